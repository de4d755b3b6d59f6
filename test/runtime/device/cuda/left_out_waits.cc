// Leaves out each wait of a schedule file in turn and runs what is left, unchecked, on the library that imitates CUDA.
// Two judges that share no code must agree on every one: where the schedule checker finds that what is left does not
// order the same bytes, that library must report a fault; where it finds that it does, nothing may be reported, and the
// results are those of the whole schedule.
//
//   left_out_waits FILE.sched streams|graphs
//
// prints how many waits were caught by a report or by other results, how many are implied by other order, and how many
// order no bytes but keep a token edge. One seed is enough where GPUs work alone, because clocks are compared, not
// values. The host's accesses have no clocks in that library: what it does too early or too late is seen as a page
// fault, or in the results, in one of several runs, in which what should have been awaited comes late. Graphs with the
// host between them run one after the other, which orders more than the schedule asks for: those waits are counted apart.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_api.h"
#include "runtime/schedule/checker.h"
#include "test/runtime/device/cuda/gpu_program.h"

namespace autopar {
namespace {

constexpr int kSeedsWithHost = 100;  // nearly always fewer than 5 are needed
constexpr int64_t kLateNs = 2000000;  // longer than a call

// A schedule that no checker has seen, over the constants of the file that it came from.
class AlteredFile : public ScheduleFile {
 public:
  AlteredFile(std::shared_ptr<const ScheduleFile> original, Schedule schedule)
      : original_(std::move(original)), schedule_(std::move(schedule)) {}
  const Schedule& schedule() const override { return schedule_; }
  Schedule& schedule() { return schedule_; }
  absl::Span<const uint8_t> constants() const override { return original_->constants(); }

 private:
  std::shared_ptr<const ScheduleFile> original_;
  Schedule schedule_;
};

// The host is one clock to the imitation: what one thread has waited for counts as known to all. So no thread waits for
// its streams before every thread has issued everything, or it would depend on their speed which waits are needed. Where
// the host has tasks, these come to their end first too, so that what does not wait for a GPU finds it unfinished.
class Gate {
 public:
  static void Install(const std::string& library) {
    absl::StatusOr<CudaApi*> api = CudaApi::Open(library);
    if (!api.ok()) return;
    synchronize_ = (*api)->cudaStreamSynchronize;
    (*api)->cudaStreamSynchronize = [](cudaStream_t stream) {
      Pass();
      return synchronize_(stream);
    };
  }
  // Until as many threads have come, and then for a while; 0: always open.
  static void Close(size_t threads, std::chrono::nanoseconds then = {}) {
    std::lock_guard<std::mutex> lock(mutex_);
    awaited_ = threads;
    then_ = then;
    arrived_.clear();
  }

 private:
  static void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool is_first = arrived_.insert(std::this_thread::get_id()).second;
    changed_.notify_all();
    // Longer only after an error, when a thread gives up early.
    changed_.wait_for(lock, std::chrono::seconds(60), [] { return arrived_.size() >= awaited_; });
    lock.unlock();
    if (is_first && awaited_ > 0) std::this_thread::sleep_for(then_);
  }

  static inline decltype(CudaApi::cudaStreamSynchronize) synchronize_ = nullptr;
  static inline std::mutex mutex_;
  static inline std::condition_variable changed_;
  static inline std::set<std::thread::id> arrived_;
  static inline size_t awaited_ = 0;
  static inline std::chrono::nanoseconds then_{};
};

using Results = std::vector<std::vector<uint8_t>>;

struct Outcome {
  Results results;
  std::vector<std::string> faults;
  uint64_t graph_launches = 0;
};

class LeftOut {
 public:
  LeftOut(std::shared_ptr<const ScheduleFile> file, bool graphs)
      : file_(std::move(file)), graphs_(graphs), function_(file_->schedule().functions[0]) {
    const Machine& machine = file_->schedule().machine;
    for (const Command& command : function_.commands) {
      const DeviceId device = function_.streams[command.stream.index()].device;
      (machine.devices[device.index()].kind == DeviceKind::kCuda ? gpus_ : hosts_).insert(device);
    }
    for (const Device& device : machine.devices) machine_gpus_ += device.kind == DeviceKind::kCuda;
  }

  // A sentence about the first wait on which the judges differ, or what was counted.
  absl::StatusOr<std::string> Judge() {
    AUTOPAR_ASSIGN_OR_RETURN(const Outcome whole, Run(file_, 1));
    if (!whole.faults.empty()) return absl::InternalError(absl::StrCat("the whole schedule: ", whole.faults[0]));
    const bool orders_more = whole.graph_launches > 1;
    const int seeds = hosts_.empty() || orders_more ? 1 : kSeedsWithHost;
    int waits = 0, caught = 0, implied = 0, tokens = 0, by_graphs = 0, most_seeds = 1;
    for (size_t index = 0; index < function_.commands.size(); ++index) {
      if (function_.commands[index].kind != CommandKind::kWait) continue;
      ++waits;
      const EventId event = function_.commands[index].event;
      auto without = std::make_shared<AlteredFile>(file_, Without(index));
      const bool keeps_tokens = CheckSchedule(without->schedule(), file_->constants().size()).ok();
      without->schedule().functions[0].token_edges.clear();
      const absl::Status bytes = CheckSchedule(without->schedule(), file_->constants().size());
      without->schedule() = Late(std::move(without->schedule()), event);
      bool seen = false;
      for (int seed = 1; seed <= (bytes.ok() ? 1 : seeds) && !seen; ++seed) {
        AUTOPAR_ASSIGN_OR_RETURN(const Outcome outcome, Run(without, seed));
        seen = !outcome.faults.empty() || outcome.results != whole.results;
        most_seeds = std::max(most_seeds, seed);
        if (seen && bytes.ok()) {
          return absl::InternalError(absl::StrCat(
              "wait ", index, " orders no bytes that others do not order, says the checker; without it: ",
              outcome.faults.empty() ? "other results" : outcome.faults[0]));
        }
      }
      if (!seen && !bytes.ok() && !orders_more) {
        return absl::InternalError(absl::StrCat("nothing is seen without wait ", index,
                                                ", but the checker says: ", bytes.message()));
      }
      ++(seen ? caught : !bytes.ok() ? by_graphs : keeps_tokens ? implied : tokens);
    }
    return absl::StrCat("waits=", waits, " caught=", caught, " implied=", implied, " tokens=", tokens,
                        " ordered_by_graphs=", by_graphs, " most_seeds=", most_seeds);
  }

 private:
  Schedule Without(size_t index) const {
    Schedule schedule = file_->schedule();
    Function& function = schedule.functions[0];
    function.commands.erase(function.commands.begin() + static_cast<ptrdiff_t>(index));
    for (TokenEdge& edge : function.token_edges) {
      edge.before -= edge.before > index;
      edge.after -= edge.after > index;
    }
    return schedule;
  }

  // With a sleep before the host's task whose end the event is, if it is one of the host's.
  Schedule Late(Schedule schedule, EventId event) const {
    Function& function = schedule.functions[0];
    const auto record = std::find_if(function.commands.begin(), function.commands.end(), [&](const Command& command) {
      return command.kind == CommandKind::kRecord && command.event == event;
    });
    if (hosts_.count(function.streams[record->stream.index()].device) == 0) return schedule;
    auto task = record;
    while (task->kind != CommandKind::kLaunch || task->stream != record->stream) --task;
    Kernel sleep;
    sleep.name = "sleep";
    sleep.kind = KernelKind::kSynthetic;
    Command late;
    late.stream = record->stream;
    late.kernel = KernelId(static_cast<uint32_t>(schedule.kernels.size()));
    late.duration_ns = kLateNs;
    function.commands.insert(task, late);
    schedule.kernels.push_back(std::move(sleep));
    return schedule;
  }

  absl::StatusOr<Outcome> Run(std::shared_ptr<const ScheduleFile> file, int seed) {
    // Lazily, and one GPU's stream of three later than everything else.
    const std::string late = !hosts_.empty() && seed % 4 != 0 ? "eagerness=0,policy=starve," : "";
    FakeCuda::Configure(absl::StrCat(late, "devices=", machine_gpus_, ",seed=", seed,
                                     ",report=/dev/null,fault=continue,leaks=0"));
    Outcome outcome;
    {
      AUTOPAR_ASSIGN_OR_RETURN(
          const std::shared_ptr<const Program> program,
          Program::Create(file, FakeCuda::Options(graphs_ ? CudaGraphMode::kOn : CudaGraphMode::kOff)));
      AUTOPAR_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Create(program));
      AUTOPAR_RETURN_IF_ERROR(Call(*program, *session, &outcome));
    }
    outcome.faults = FakeCuda::Faults(false);
    outcome.graph_launches = FakeCuda::Stat("graph_launches");
    return outcome;
  }

  absl::Status Call(const Program& program, Session& session, Outcome* outcome) {
    std::vector<std::unique_ptr<HostBuffer>> buffers;
    const auto allocate = [&](const Port& port) -> absl::StatusOr<absl::Span<uint8_t>> {
      AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<HostBuffer> buffer, program.AllocateBuffer(port.type.bytes()));
      buffers.push_back(std::move(buffer));
      return buffers.back()->bytes();
    };
    std::vector<absl::Span<const uint8_t>> inputs;
    std::vector<absl::Span<uint8_t>> outputs;
    for (const Port& port : function_.arguments) {
      AUTOPAR_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes, allocate(port));
      const std::vector<uint8_t> values = BytesOf(TestFloats(bytes.size() / sizeof(float) + 1, inputs.size() + 1));
      std::copy(values.begin(), values.begin() + static_cast<ptrdiff_t>(bytes.size()), bytes.begin());
      inputs.push_back(bytes);
    }
    for (const Port& port : function_.results) {
      AUTOPAR_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes, allocate(port));
      outputs.push_back(bytes);
    }
    AUTOPAR_RETURN_IF_ERROR(session.Bind(function_.name, inputs, outputs));
    Gate::Close(graphs_ ? 0 : gpus_.size(), std::chrono::nanoseconds(hosts_.empty() ? 0 : 2 * kLateNs));
    const absl::Status status = session.Run(function_.name);
    Gate::Close(0);
    AUTOPAR_RETURN_IF_ERROR(status);
    AUTOPAR_RETURN_IF_ERROR(session.Fetch(function_.name));
    for (const absl::Span<uint8_t> bytes : outputs) outcome->results.emplace_back(bytes.begin(), bytes.end());
    return absl::OkStatus();
  }

  std::shared_ptr<const ScheduleFile> file_;
  bool graphs_;
  const Function& function_;
  std::set<DeviceId> gpus_, hosts_;  // that have commands
  int machine_gpus_ = 0;
};

absl::StatusOr<std::string> JudgeFile(const std::string& path, bool graphs) {
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const ScheduleFile> file, ReadScheduleFile(path));
  return LeftOut(std::move(file), graphs).Judge();
}

}  // namespace
}  // namespace autopar

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[2] : "";
  if (mode != "streams" && mode != "graphs") {
    std::fprintf(stderr, "usage: left_out_waits FILE.sched streams|graphs\n");
    return 2;
  }
  setenv("AUTOPAR_FAKE_SCHEDULE", argv[1], 1);  // the kernels' CPU code
  autopar::Gate::Install(autopar::FakeCuda::Path());
  const absl::StatusOr<std::string> counted = autopar::JudgeFile(argv[1], mode == "graphs");
  std::printf("%s\n", counted.ok() ? counted->c_str() : std::string(counted.status().message()).c_str());
  return counted.ok() ? 0 : 1;
}
