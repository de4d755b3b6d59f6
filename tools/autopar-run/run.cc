#include "tools/autopar-run/run.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/executor/program.h"
#include "tools/autopar-run/compile.h"
#include "tools/autopar-run/describe_machine.h"
#include "tools/autopar-run/measurements.h"
#include "tools/autopar-run/simulate.h"
#include "tools/autopar-run/values.h"

namespace autopar {
namespace {

// Flags that were given for GPUs where the program uses none.
void NoteIdleFlags(const CudaOptions& options) {
  for (const auto& [flag, is_given] : {std::pair{"--cuda-graph=on", options.graph == CudaGraphMode::kOn},
                                       std::pair{"--tf32", options.tf32}}) {
    if (is_given) std::fprintf(stderr, "note: %s has no effect: no device is a GPU\n", flag);
  }
}

absl::Status PrintText(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return FileError("cannot write to", "standard output", errno);
  }
  return absl::OkStatus();
}

absl::Status DescribeMachine(const Flags& flags) {
  const std::string spec = flags.machine.empty() ? "host" : flags.machine;
  AUTOPAR_ASSIGN_OR_RETURN(Machine machine, LoadMachine(spec));
  // A file or a data sheet says what is wanted; what this host can be is measured.
  if (spec == "host" || spec.rfind("virtual:", 0) == 0 || spec.rfind("cuda:", 0) == 0) {
    constexpr double kDisturbed = 1.5;
    AUTOPAR_ASSIGN_OR_RETURN(MeasuredMachine measured,
                             MeasureMachine(std::move(machine), flags.cuda));
    machine = std::move(measured.machine);
    if (measured.spread > kDisturbed) {
      std::fprintf(stderr,
                   "note: something else is running here: calls that should take equally long took up to "
                   "%.1f times as long; measure again on an idle machine\n",
                   measured.spread);
    }
  }
  return PrintText(PrintMachine(machine));
}

bool IsSource(const std::string& path) {
  return path.size() > 5 && path.compare(path.size() - 5, 5, ".mlir") == 0;
}

// All calls; what they measured.
struct Calls {
  std::vector<int64_t> call_ns;
  std::vector<int64_t> elapsed_ns;  // from the first command to the last
  std::optional<TaskProfile> profile;
};

absl::StatusOr<Calls> CallRepeatedly(const Flags& flags, const Function& function,
                                     const Schedule& schedule, const std::vector<Tensor>& inputs,
                                     std::vector<Tensor>* results, Session* session) {
  std::vector<absl::Span<const uint8_t>> input_spans;
  std::vector<absl::Span<uint8_t>> result_spans;
  for (const Tensor& input : inputs) input_spans.push_back(input.bytes());
  for (Tensor& result : *results) result_spans.push_back(result.bytes());
  Calls calls;
  if (!flags.profile.empty()) calls.profile.emplace(schedule, function, flags.device_map);
  AUTOPAR_RETURN_IF_ERROR(session->Bind(function.name, input_spans, result_spans));
  for (int64_t i = 0; i < flags.warmup + flags.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    AUTOPAR_RETURN_IF_ERROR(session->Run(function.name));
    const auto finish = std::chrono::steady_clock::now();
    if (i < flags.warmup) continue;
    calls.call_ns.push_back(std::chrono::nanoseconds(finish - start).count());
    calls.elapsed_ns.push_back(session->elapsed_ns());
    if (calls.profile) calls.profile->Add(session->timings());
  }
  AUTOPAR_RETURN_IF_ERROR(session->Fetch(function.name));
  return calls;
}

absl::Status RunSchedule(const Flags& flags, std::shared_ptr<const ScheduleFile> file) {
  AUTOPAR_ASSIGN_OR_RETURN(const Function* function,
                           ChooseFunction(file->schedule(), flags.function));
  AUTOPAR_RETURN_IF_ERROR(CheckCounts(*function, flags));
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                           Program::Create(std::move(file), LoadOptions{flags.device_map, flags.cuda}));
  if (!program->UsesCuda()) NoteIdleFlags(flags.cuda);
  AUTOPAR_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(*function, *program, flags));
  AUTOPAR_ASSIGN_OR_RETURN(std::vector<Tensor> results, AllocateResults(*function, *program));
  SessionOptions options;
  options.record_timings = !flags.trace.empty() || !flags.profile.empty();
  options.delay_seed = flags.delay_seed;
  options.poison = flags.poison;
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Create(program, options));
  const Schedule& schedule = program->schedule();
  AUTOPAR_ASSIGN_OR_RETURN(const Calls calls, CallRepeatedly(flags, *function, schedule, inputs,
                                                             &results, session.get()));
  const std::string why_no_graph = session->WhyNoCudaGraph(function->name);
  if (flags.cuda.graph == CudaGraphMode::kOn && !why_no_graph.empty()) {
    std::fprintf(stderr, "note: function '%s' is not replayed as CUDA graphs: %s\n",
                 function->name.c_str(), why_no_graph.c_str());
  }
  if (!flags.trace.empty()) {
    AUTOPAR_RETURN_IF_ERROR(
        WriteFile(flags.trace, TraceOfCall(schedule, *function, session->timings())));
  }
  if (calls.profile) AUTOPAR_RETURN_IF_ERROR(WriteFile(flags.profile, calls.profile->ToJson()));
  AUTOPAR_RETURN_IF_ERROR(DeliverResults(*function, flags, results));
  if (!flags.trace.empty()) {
    AUTOPAR_RETURN_IF_ERROR(
        PrintText(MakespanLine(function->predicted_makespan_ns, calls.elapsed_ns)));
  }
  return flags.repeat_given ? PrintText(TimeLine(calls.call_ns)) : absl::OkStatus();
}

}  // namespace

absl::Status Run(const Flags& flags) {
  if (flags.describe_machine) return DescribeMachine(flags);
  std::string path = flags.program;
  std::unique_ptr<TemporarySchedule> compiled;
  if (IsSource(path)) {
    AUTOPAR_ASSIGN_OR_RETURN(compiled, CompileProgram(path, flags.machine));
    path = compiled->path();
  } else if (!flags.machine.empty()) {
    return absl::InvalidArgumentError(
        "--machine: a schedule was planned for its machine already; give the .mlir program, or map "
        "devices with --device");
  }
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const ScheduleFile> file, ReadScheduleFile(path));
  compiled.reset();  // the file stays mapped
  if (flags.dump) return PrintText(DumpSchedule(file->schedule()));
  if (!flags.simulate.empty()) {
    AUTOPAR_ASSIGN_OR_RETURN(const std::string line, SimulationLine(file->schedule(), flags));
    return PrintText(line);
  }
  return RunSchedule(flags, std::move(file));
}

}  // namespace autopar
