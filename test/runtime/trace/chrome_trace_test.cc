#include "runtime/trace/chrome_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace autopar {
namespace {

using Json = nlohmann::json;

Command MakeCommand(CommandKind kind, size_t stream, int64_t start_ns = 0, int64_t finish_ns = 0) {
  Command command;
  command.kind = kind;
  command.stream = StreamId(stream);
  command.start_ns = start_ns;
  command.finish_ns = finish_ns;
  return command;
}

// launch "a" on gpu0, then its result copied to cpu0 on the copy stream.
Schedule TwoStreams() {
  Schedule schedule;
  schedule.producer = "test";
  schedule.machine = LoadMachine("virtual:1").value();
  schedule.strings = {"a \"quoted\"\n", "to the host"};
  schedule.kernels.resize(1);
  schedule.kernels[0].name = "matmul_0";
  Function function;
  function.name = "main";
  const LinkId link = schedule.machine.FindLink(DeviceId(1), DeviceId(0));
  function.streams = {{DeviceId(1), StreamKind::kCompute, 0, LinkId()},
                      {DeviceId(1), StreamKind::kCopy, 0, link},
                      {DeviceId(0), StreamKind::kCompute, 0, LinkId()}};
  function.event_count = 1;
  function.regions = {Region{SpaceId(0), 0, 100, 100, 3}, Region{SpaceId(1), 0, 100, 100, 3}};
  Command launch = MakeCommand(CommandKind::kLaunch, 0, 1000, 2500);
  launch.kernel = KernelId(0);
  Command record = MakeCommand(CommandKind::kRecord, 0);
  record.event = EventId(0);
  Command wait = MakeCommand(CommandKind::kWait, 1);
  wait.event = EventId(0);
  wait.reason = WaitReason::kReuse;
  Command copy = MakeCommand(CommandKind::kCopy, 1, 2500, 12345);
  copy.reads = copy.writes = 1;
  copy.label = 1;
  function.commands = {launch, record, wait, copy};
  function.predicted_makespan_ns = 12345;
  schedule.functions = {function};
  return schedule;
}

// Events with phase `phase`, in order.
std::vector<Json> Events(const Json& trace, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

TEST(ChromeTrace, MeasuredAndPredictedStandSideBySide) {
  const Schedule schedule = TwoStreams();
  const std::vector<MeasuredSpan> measured = {{3, 3000, 20001}, {0, 5, 2999}};
  const Json trace = Json::parse(ChromeTrace(schedule, schedule.functions[0], measured));
  EXPECT_EQ(trace["otherData"]["predicted_makespan_ns"], 12345);
  EXPECT_EQ(trace["otherData"]["measured_makespan_ns"], 20001);

  std::map<std::pair<int, int>, std::string> rows;
  std::map<int, std::string> devices;
  for (const Json& event : Events(trace, "M")) {
    if (event["name"] == "thread_name") rows[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["name"] == "process_name") devices[event["pid"]] = event["args"]["name"];
  }
  EXPECT_EQ(devices, (std::map<int, std::string>{{2, "gpu0"}})) << "cpu0 does nothing";
  ASSERT_EQ(rows.size(), 4u);

  const std::vector<Json> spans = Events(trace, "X");
  ASSERT_EQ(spans.size(), 4u);
  struct Expected {
    const char* name;
    const char* row;
    double ts, dur;
  };
  const Expected expected[] = {{"a \"quoted\"\n", "compute 0 measured", 0.005, 2.994},
                               {"a \"quoted\"\n", "compute 0 predicted", 1.0, 1.5},
                               {"to the host", "copy gpu0 to cpu0 measured", 3.0, 17.001},
                               {"to the host", "copy gpu0 to cpu0 predicted", 2.5, 9.845}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(spans[i]["name"], expected[i].name);
    EXPECT_EQ((rows[{spans[i]["pid"], spans[i]["tid"]}]), expected[i].row);
    EXPECT_DOUBLE_EQ(spans[i]["ts"], expected[i].ts);
    EXPECT_DOUBLE_EQ(spans[i]["dur"], expected[i].dur);
  }
  EXPECT_EQ(spans[0]["args"]["kernel"], "matmul_0");
  EXPECT_EQ(spans[2]["args"]["bytes"], 300);
}

TEST(ChromeTrace, WaitIsAnArrowWithItsReason) {
  const Schedule schedule = TwoStreams();
  const std::vector<MeasuredSpan> measured = {{0, 5, 2999}, {3, 3000, 20001}};
  const Json trace = Json::parse(ChromeTrace(schedule, schedule.functions[0], measured));
  const std::vector<Json> begins = Events(trace, "s"), ends = Events(trace, "f");
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(begins[0]["name"], "reuse");
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_EQ(begins[0]["tid"], 1);
  EXPECT_EQ(ends[0]["tid"], 3);
  EXPECT_DOUBLE_EQ(ends[0]["ts"], 3.0);
}

TEST(ChromeTrace, OddInputIsStillJson) {
  Schedule schedule = TwoStreams();
  EXPECT_EQ(Events(Json::parse(ChromeTrace(schedule, schedule.functions[0], {})), "X").size(), 2u)
      << "without measurements the prediction alone";
  const std::vector<MeasuredSpan> stray = {{99, 0, 1}, {1, 0, 1}};
  EXPECT_EQ(Events(Json::parse(ChromeTrace(schedule, schedule.functions[0], stray)), "X").size(),
            2u);
  schedule.strings[0] = "not \xff utf-8";
  schedule.functions[0].commands[3].stream = StreamId();
  schedule.functions[0].commands[0].label = 77;
  EXPECT_EQ(Events(Json::parse(ChromeTrace(schedule, schedule.functions[0], {})), "X").size(), 1u);
  EXPECT_TRUE(Events(Json::parse(ChromeTrace(schedule, Function(), {})), "X").empty());
}

}  // namespace
}  // namespace autopar
