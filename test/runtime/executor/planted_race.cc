// Runs a two-stream schedule past the checker: "ordered" with its wait, "racy" without. ThreadSanitizer
// must report the second and only the second.
#include <cstdio>
#include <string_view>

#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

absl::Status RunSchedule(bool with_wait) {
  constexpr uint64_t kBytes = 4096;
  constexpr DeviceId kCpu{0};
  ScheduleBuilder builder(TestMachine(0));
  SpaceId argument = builder.Argument({ElementType::kI8, {kBytes}});
  SpaceId result = builder.Result({ElementType::kI8, {kBytes}});
  SpaceId arena = builder.Arena(kCpu, kBytes);
  StreamId first = builder.Compute(kCpu, 0), second = builder.Compute(kCpu, 1);
  KernelId write = builder.Synthetic("write", {kBytes}, {kBytes});
  KernelId read = builder.Synthetic("read", {kBytes}, {kBytes});
  builder.Launch(first, write, {builder.Whole(argument)}, {builder.Whole(arena)});
  EventId event = builder.Record(first);
  if (with_wait) builder.Wait(second, event);
  builder.Launch(second, read, {builder.Whole(arena)}, {builder.Whole(result)});
  auto program = builder.BuildUnchecked();
  if (!program.ok()) return program.status();
  auto session = Session::Create(*program);
  if (!session.ok()) return session.status();
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto results = CallMain(**program, **session, {TestBytes(kBytes, 1)});
    if (!results.ok()) return results.status();
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace autopar

int main(int argc, char** argv) {
  bool racy = argc > 1 && std::string_view(argv[1]) == "racy";
  absl::Status status = autopar::RunSchedule(!racy);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
