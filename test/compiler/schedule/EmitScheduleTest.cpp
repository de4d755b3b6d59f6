// From placed tasks to a schedule that the checker proves, and in which no wait can be missed.
#include "compiler/schedule/EmitSchedule.h"

#include <random>

#include <gtest/gtest.h>

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/memory/MemoryPlan.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/schedule/checker.h"

namespace mlir::autopar {
namespace {

using ::autopar::Command;
using ::autopar::CommandKind;
using ::autopar::Schedule;

const char *const machineJson = R"({"devices": [
  {"name": "cpu0", "kind": "cpu", "cores": 2, "streams": 2},
  {"name": "gpu0", "kind": "virtual", "streams": 2, "memory_bytes": MEMORY},
  {"name": "gpu1", "kind": "virtual", "streams": 2}],
  "links": [
  {"from": "cpu0", "to": "gpu0", "bytes_per_s": 1000000000, "engines": ["a"]},
  {"from": "gpu0", "to": "cpu0", "bytes_per_s": 1000000000, "engines": ["b"]},
  {"from": "cpu0", "to": "gpu1", "bytes_per_s": 1000000000, "engines": ["c"]},
  {"from": "gpu1", "to": "cpu0", "bytes_per_s": 1000000000, "engines": ["d"]},
  {"from": "gpu0", "to": "gpu1", "bytes_per_s": 1000000000, "engines": ["b", "c"]}]})";

::autopar::Machine machineWithMemory(uint64_t gpu0Bytes) {
  std::string json = machineJson;
  json.replace(json.find("MEMORY"), 6, std::to_string(gpu0Bytes));
  return ::autopar::ParseMachine(json).value();
}

/// A random program of synthetic tasks, placed on three devices of two streams each; some edges are tokens, some values
/// empty.
std::string randomProgram(uint64_t seed, int tasks) {
  std::mt19937_64 random(seed);
  const char *devices[] = {"cpu0", "gpu0", "gpu1"};
  int64_t freeNs[3][2] = {};
  std::vector<int64_t> finishNs;
  std::vector<int> elements;
  std::string body;
  for (int id = 0; id < tasks; ++id) {
    int device = random() % 3, stream = random() % 2;
    std::string operands, types;
    int64_t startNs = freeNs[device][stream];
    for (int i = random() % 4; i > 0 && id > 0; --i) {
      int from = id - 1 - random() % std::min(id, 8);
      bool isToken = random() % 5 == 0;
      operands += (operands.empty() ? "%v" : ", %v") + std::to_string(from) + (isToken ? "#1" : "#0");
      types += (types.empty() ? "" : ", ");
      types += isToken ? "!autopar.token" : "tensor<" + std::to_string(elements[from]) + "xf32>";
      startNs = std::max(startNs, finishNs[from] + 50);
    }
    elements.push_back(random() % 10 == 0 ? 0 : 16 * (1 + random() % 20));
    finishNs.push_back(startNs + 20 + random() % 200);
    freeNs[device][stream] = finishNs.back();
    std::string number = std::to_string(id), result = "tensor<" + std::to_string(elements.back()) + "xf32>";
    body += "%v" + number + ":2 = autopar.synthetic_task(" + operands + ") {label = \"t" + number +
            "\", cost_ns = {cpu = 10, virtual = 10}, occupancy = {cpu = 0.5, virtual = 0.5}, placement = "
            "#autopar.placement<\"" +
            devices[device] + "\" stream " + std::to_string(stream) + " at " + std::to_string(startNs) + " to " +
            std::to_string(finishNs.back()) + ">} : (" + types + ") -> (" + result + ", !autopar.token)\n";
  }
  std::string last = std::to_string(tasks - 1), type = "tensor<" + std::to_string(elements.back()) + "xf32>";
  return "func.func @main() -> " + type + " {\n" + body + "return %v" + last + "#0 : " + type + "\n}\n";
}

class EmitScheduleTest : public ::testing::Test {
protected:
  EmitScheduleTest() : context(makeRegistry()) {
    context.allowUnregisteredDialects(false);
    context.disableMultithreading();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<AutoparDialect, func::FuncDialect>();
    return registry;
  }

  OwningOpRef<ModuleOp> compile(const std::string &text, const ::autopar::Machine &machine, bool lower = true) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    if (!module)
      return nullptr;
    setMachine(*module, machine);
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(createInsertTransfersPass());
    manager.addNestedPass<func::FuncOp>(createPlanMemoryPass());
    manager.addNestedPass<func::FuncOp>(createInsertWaitsPass());
    if (lower)
      manager.addPass(createLowerToSchedulePass());
    if (failed(manager.run(*module)))
      return nullptr;
    return module;
  }

  /// The schedule must be safe, and unsafe without any one of its waits. Returns how many waits there are, by reason.
  std::vector<int> checkEveryWait(const std::string &text, const ::autopar::Machine &machine) {
    std::vector<int> reasons(4, 0);
    OwningOpRef<ModuleOp> module = compile(text, machine);
    if (!module) {
      ADD_FAILURE() << "does not compile:\n" << text;
      return reasons;
    }
    FailureOr<Schedule> schedule = buildSchedule(*module);
    if (failed(schedule)) {
      ADD_FAILURE() << "no schedule";
      return reasons;
    }
    absl::Status status = CheckSchedule(*schedule, schedule->constants.size());
    EXPECT_TRUE(status.ok()) << status.message() << "\n" << text;
    const std::vector<Command> &commands = schedule->functions[0].commands;
    for (uint32_t i = 0; i < commands.size(); ++i) {
      if (commands[i].kind != CommandKind::kWait)
        continue;
      ++reasons[static_cast<int>(commands[i].reason)];
      Schedule without = *schedule;
      without.functions[0].commands.erase(without.functions[0].commands.begin() + i);
      for (::autopar::TokenEdge &edge : without.functions[0].token_edges) {
        edge.before -= edge.before > i;
        edge.after -= edge.after > i;
      }
      EXPECT_FALSE(CheckSchedule(without, without.constants.size()).ok())
          << "command " << i << ", a wait, is not needed in\n"
          << text;
    }
    return reasons;
  }

  MLIRContext context;
};

TEST_F(EmitScheduleTest, EveryWaitOfARandomProgramIsNeeded) {
  std::vector<int> total(4, 0);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<int> reasons = checkEveryWait(randomProgram(seed, 10 + 3 * static_cast<int>(seed)), machineWithMemory(0));
    for (int reason = 0; reason < 4; ++reason)
      total[reason] += reasons[reason];
  }
  EXPECT_GT(total[static_cast<int>(::autopar::WaitReason::kData)], 0);
  EXPECT_GT(total[static_cast<int>(::autopar::WaitReason::kToken)], 0);
}

TEST_F(EmitScheduleTest, LittleMemoryIsMetByWaitsForReuse) {
  std::string chains;
  // Four chains that start one after the other on two streams of gpu0; each needs 4,096 bytes at once, 5,000 are there.
  for (int chain = 0; chain < 4; ++chain)
    for (int step = 0; step < 2; ++step) {
      std::string id = std::to_string(2 * chain + step), before = std::to_string(2 * chain);
      int64_t startNs = 100 * chain + 50 * step;
      chains += "%v" + id + " = autopar.synthetic_task(" + (step ? "%v" + before : "") + ") {label = \"t" + id +
                "\", cost_ns = {virtual = 10}, occupancy = {virtual = 0.5}, placement = #autopar.placement<\"gpu0\" stream " +
                std::to_string(chain % 2) + " at " + std::to_string(startNs) + " to " + std::to_string(startNs + 50) +
                ">} : (" + (step ? "tensor<1024xf32>" : "") + ") -> " + (step ? "tensor<0xf32>" : "tensor<1024xf32>") + "\n";
    }
  std::string text = "func.func @main() -> (tensor<0xf32> {autopar.device = \"gpu0\"}) {\n" + chains +
                     "return %v7 : tensor<0xf32>\n}\n";
  EXPECT_EQ(checkEveryWait(text, machineWithMemory(0))[static_cast<int>(::autopar::WaitReason::kReuse)], 0);
  EXPECT_GT(checkEveryWait(text, machineWithMemory(5000))[static_cast<int>(::autopar::WaitReason::kReuse)], 0);
}

TEST_F(EmitScheduleTest, EqualConstantsAreStoredOnceAndBooleansAsBytes) {
  OwningOpRef<ModuleOp> module = compile(R"(
    func.func @main() -> (tensor<4xi8>, tensor<4xi8>) {
      %a = autopar.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
      %b = autopar.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
      %c = autopar.constant dense<[true, false, true, true]> : tensor<4xi1>
      %0 = autopar.synthetic_task(%a, %c) {label = "t", cost_ns = {cpu = 1}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 1>} : (tensor<4xi32>, tensor<4xi1>) -> tensor<4xi8>
      %1 = autopar.synthetic_task(%b) {label = "u", cost_ns = {virtual = 1}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 1>} : (tensor<4xi32>) -> tensor<4xi8>
      return %0, %1 : tensor<4xi8>, tensor<4xi8>
    })",
                                         machineWithMemory(0));
  ASSERT_TRUE(module);
  FailureOr<Schedule> schedule = buildSchedule(*module);
  ASSERT_TRUE(succeeded(schedule));
  EXPECT_TRUE(CheckSchedule(*schedule, schedule->constants.size()).ok());
  ASSERT_EQ(schedule->constants.size(), 68u); // 16 bytes, aligned to 64, and 4
  EXPECT_EQ(schedule->constants[4], 2);
  EXPECT_EQ(schedule->constants[64], 1);
  EXPECT_EQ(schedule->constants[65], 0);
  EXPECT_EQ(schedule->constants[67], 1);
}

TEST_F(EmitScheduleTest, EachFunctionIsOneAndEqualTasksShareAKernel) {
  std::string task = "%0 = autopar.synthetic_task(%x) {label = \"t\", cost_ns = {cpu = 7}, placement = "
                     "#autopar.placement<\"cpu0\" stream 0 at 0 to 9>} : (tensor<4xf32>) -> tensor<4xf32>\n";
  std::string body = "(%x: tensor<4xf32>) -> tensor<4xf32> {\n" + task + "return %0 : tensor<4xf32>\n}\n";
  OwningOpRef<ModuleOp> module = compile("func.func @one" + body + "func.func @two" + body, machineWithMemory(0));
  ASSERT_TRUE(module);
  FailureOr<Schedule> schedule = buildSchedule(*module);
  ASSERT_TRUE(succeeded(schedule));
  ASSERT_EQ(schedule->functions.size(), 2u);
  EXPECT_EQ(schedule->functions[1].name, "two");
  EXPECT_EQ(schedule->kernels.size(), 1u);
  const Command &launch = schedule->functions[0].commands.at(0);
  EXPECT_EQ(launch.duration_ns, 7);
  EXPECT_EQ(launch.finish_ns, 9);
  EXPECT_EQ(schedule->strings.at(launch.label), "t");
}

TEST_F(EmitScheduleTest, MemoryStatsAreTheArenaAndItsBound) {
  OwningOpRef<ModuleOp> module = compile(randomProgram(5, 60), machineWithMemory(0), /*lower=*/false);
  ASSERT_TRUE(module);
  FailureOr<std::vector<MemoryStats>> stats = computeMemoryStats(*module->getOps<func::FuncOp>().begin());
  ASSERT_TRUE(succeeded(stats));
  ASSERT_EQ(stats->size(), 3u);
  for (const MemoryStats &device : *stats) {
    EXPECT_GT(device.peakLowerBoundBytes, 0u);
    EXPECT_GE(device.peakBytes, device.peakLowerBoundBytes);
  }
}

} // namespace
} // namespace mlir::autopar
