// What the planner predicts is what the simulator, which shares no code with it, gets from the
// finished schedule: not only the makespan but the times of every launch and copy.
#include "compiler/schedule/EmitSchedule.h"

#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/schedule/checker.h"
#include "runtime/simulator/simulator.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace mlir::autopar {
namespace {

using ::autopar::Command;
using ::autopar::CommandKind;
using ::autopar::Function;
using ::autopar::Machine;
using ::autopar::Schedule;
using ::autopar::Simulation;
using ::autopar::planning::DeviceSet;
using ::autopar::planning::Family;
using ::autopar::planning::LinkSet;
using ::autopar::planning::RandomGraphOptions;
using ::autopar::planning::RandomProblem;
using ::autopar::planning::TaskGraph;

/// The long runs are asked for: tools/test.sh --full.
bool wantsFullTests() {
  const char *value = std::getenv("AUTOPAR_FULL_TESTS");
  return value && *value;
}

class SimulatedScheduleTest : public ::testing::Test {
protected:
  SimulatedScheduleTest() : context(makeRegistry()) {
    context.disableMultithreading();
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; });
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<AutoparDialect, func::FuncDialect>();
    return registry;
  }

  /// From planning to a schedule that the checker has proved. Nothing, and messages in `errors`,
  /// where a stage fails.
  std::optional<Schedule> tryCompile(const std::string &text, const Machine &machine,
                                     PlanSchedulePassOptions options) {
    errors.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    std::optional<Schedule> schedule;
    if (module) {
      setMachine(*module, machine);
      PassManager manager(&context);
      manager.addNestedPass<func::FuncOp>(createPlanSchedulePass(options));
      manager.addNestedPass<func::FuncOp>(createInsertTransfersPass());
      manager.addNestedPass<func::FuncOp>(createPlanMemoryPass());
      manager.addNestedPass<func::FuncOp>(createInsertWaitsPass());
      manager.addPass(createLowerToSchedulePass());
      if (succeeded(manager.run(*module)))
        if (FailureOr<Schedule> built = buildSchedule(*module); succeeded(built))
          schedule = std::move(*built);
    }
    if (schedule) {
      absl::Status safe = CheckSchedule(*schedule, schedule->constants.size());
      EXPECT_TRUE(safe.ok()) << safe.message();
    }
    return schedule;
  }
  std::optional<Schedule> compile(const std::string &text, const Machine &machine,
                                  PlanSchedulePassOptions options) {
    std::optional<Schedule> schedule = tryCompile(text, machine, options);
    EXPECT_TRUE(schedule) << errors;
    return schedule;
  }
  std::optional<Schedule> compile(const std::string &text, const Machine &machine,
                                  unsigned effort = 1) {
    PlanSchedulePassOptions options;
    options.effort = effort;
    return compile(text, machine, options);
  }

  static Simulation simulate(const Schedule &schedule, const Machine &machine) {
    absl::StatusOr<Simulation> simulation = Simulate(schedule, schedule.functions[0], machine);
    EXPECT_TRUE(simulation.ok()) << simulation.status().message();
    return simulation.value_or(Simulation());
  }

  /// Makespan and every single time.
  static void expectAsPredicted(const Schedule &schedule) {
    const Function &function = schedule.functions[0];
    Simulation simulation = simulate(schedule, schedule.machine);
    EXPECT_EQ(simulation.makespan_ns, function.predicted_makespan_ns);
    for (size_t i = 0; i < function.commands.size(); ++i) {
      const Command &command = function.commands[i];
      if (command.kind != CommandKind::kLaunch && command.kind != CommandKind::kCopy)
        continue;
      if (command.kind == CommandKind::kCopy &&
          function.regions[command.first_region].row_bytes == 0)
        continue; // takes no time, but keeps the order of its stream, which no plan cares about
      EXPECT_EQ(simulation.commands[i].start_ns, command.start_ns)
          << "command " << i << ", " << schedule.strings[command.label];
      EXPECT_EQ(simulation.commands[i].finish_ns, command.finish_ns)
          << "command " << i << ", " << schedule.strings[command.label];
    }
  }

  static Machine withLinks(Machine machine, uint64_t times, uint64_t per) {
    for (::autopar::Link &link : machine.links)
      link.bytes_per_s = link.bytes_per_s * times / per;
    return machine;
  }

  void checkProblem(const RandomGraphOptions &options, unsigned efforts) {
    RandomProblem problem = randomProblem(options);
    // The launch rate of a GPU is another share.
    for (::autopar::Device &device : problem.machine.devices)
      if (device.kind == ::autopar::DeviceKind::kVirtual && options.seed % 3 == 0)
        device.kind = ::autopar::DeviceKind::kCuda;
    std::string text = programText(problem.graph, problem.machine);
    for (unsigned effort = 0; effort < efforts && !HasFailure(); ++effort) {
      SCOPED_TRACE(describe(options) + ", effort " + std::to_string(effort));
      std::optional<Schedule> schedule = compile(text, problem.machine, effort);
      if (!schedule)
        continue;
      expectAsPredicted(*schedule);
      // All orders are fixed, so faster links cannot make anything later, nor slower ones earlier.
      int64_t predictedNs = schedule->functions[0].predicted_makespan_ns;
      EXPECT_LE(simulate(*schedule, withLinks(problem.machine, 3, 1)).makespan_ns, predictedNs);
      EXPECT_GE(simulate(*schedule, withLinks(problem.machine, 1, 2)).makespan_ns, predictedNs);
    }
  }

  MLIRContext context;
  std::string errors;
};

/// A returned value that is an input, or is returned twice, takes a task that copies it, which
/// forming tasks would add.
bool returnsOnlyResultsOnce(const TaskGraph &graph) {
  std::set<::autopar::planning::ValueId> returned;
  for (const ::autopar::planning::ProgramResult &result : graph.programResults())
    if (graph.value(result.value).isToken || !graph.value(result.value).producer.valid() ||
        !returned.insert(result.value).second)
      return false;
  return true;
}

TEST_F(SimulatedScheduleTest, RandomProgramsTakeWhatWasPredicted) {
  const uint64_t seeds = wantsFullTests() ? 10'000 : 400;
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
    RandomGraphOptions options = ::autopar::planning::randomOptions(seed, 1, 40);
    if (options.pinPercent > 0)
      options.results = false; // a pinned result would be returned twice
    checkProblem(options, 3);
  }
}

TEST_F(SimulatedScheduleTest, TasksWithoutCostAndOtherOddThingsTakeWhatWasPredicted) {
  unsigned compiled = 0;
  const unsigned programs = wantsFullTests() ? 3'000 : 150;
  for (uint64_t seed = 1; compiled < programs && !HasFailure(); ++seed) {
    ::autopar::planning::Random random(seed);
    Machine machine = ::autopar::planning::randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, static_cast<size_t>(random.between(1, 40)));
    if (!returnsOnlyResultsOnce(graph))
      continue;
    ++compiled;
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (unsigned effort = 0; effort <= 2; ++effort) {
      std::optional<Schedule> schedule = compile(programText(graph, machine), machine, effort);
      ASSERT_TRUE(schedule);
      expectAsPredicted(*schedule);
    }
  }
}

TEST_F(SimulatedScheduleTest, BigProgramsTakeWhatWasPredicted) {
  for (auto [family, links] :
       {std::pair(Family::Cholesky, LinkSet::Engines), std::pair(Family::Layered, LinkSet::Bus),
        std::pair(Family::ForkJoin, LinkSet::Engines)}) {
    RandomGraphOptions options;
    options.family = family;
    options.links = links;
    options.tasks = 2'000;
    options.streams = 4;
    options.sharePercent = 50;
    options.overheads = options.hasHost = options.inputs = options.results = true;
    checkProblem(options, 2);
  }
}

TEST_F(SimulatedScheduleTest, FewerStreamsThanTheMachineHasAreKept) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomGraphOptions options = ::autopar::planning::randomOptions(seed, 10, 30);
    options.streams = 6;
    options.sharePercent = 80;
    options.pinPercent = 0;
    RandomProblem problem = randomProblem(options);
    PlanSchedulePassOptions plan;
    plan.maxStreams = 1 + seed % 4;
    SCOPED_TRACE(describe(options));
    std::optional<Schedule> schedule =
        compile(programText(problem.graph, problem.machine), problem.machine, plan);
    ASSERT_TRUE(schedule);
    expectAsPredicted(*schedule);
    for (const ::autopar::Stream &stream : schedule->functions[0].streams)
      if (stream.kind == ::autopar::StreamKind::kCompute) {
        EXPECT_LT(stream.ordinal, plan.maxStreams);
      }
  }
}

/// A task whose result `readers` tasks on another device each read a piece of.
std::string fork(unsigned readers) {
  std::string results, types, body;
  for (unsigned i = 0; i < readers; ++i) {
    types += std::string(i ? ", " : "") + "tensor<" + std::to_string(100 + i) + "xi8>";
    body += "\"autopar.synthetic_task\"(%0#" + std::to_string(i) + ") {label = \"r" +
            std::to_string(i) + "\", cost_ns = {p1 = 1.0}, device = \"p1\"} : (tensor<" +
            std::to_string(100 + i) + "xi8>) -> ()\n";
  }
  return "func.func @main() {\n%0:" + std::to_string(readers) +
         " = \"autopar.synthetic_task\"() {label = \"source\", cost_ns = {p0 = 10.0}, device = "
         "\"p0\"} : () -> (" +
         types + ")\n" + body + "return\n}\n";
}

TEST_F(SimulatedScheduleTest, TransfersOfALinkWithoutEnginesRunSideBySide) {
  Machine machine = ::autopar::planning::fullyConnected(2);
  std::optional<Schedule> schedule = compile(fork(40), machine);
  ASSERT_TRUE(schedule);
  expectAsPredicted(*schedule);
  EXPECT_EQ(schedule->functions[0].streams.size(), 42u) << "one for each copy";
  EXPECT_EQ(schedule->functions[0].predicted_makespan_ns, 10 + 139 + 1);
  // With an engine they queue, on one stream.
  machine.engines = {"e"};
  for (::autopar::Link &link : machine.links)
    link.engines = {0};
  schedule = compile(fork(40), machine);
  ASSERT_TRUE(schedule);
  expectAsPredicted(*schedule);
  EXPECT_EQ(schedule->functions[0].streams.size(), 3u);
}

TEST_F(SimulatedScheduleTest, BeyondTheCopyStreamsOfALinkTransfersQueueAfterAll) {
  std::optional<Schedule> schedule = compile(fork(200), ::autopar::planning::fullyConnected(2));
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->functions[0].streams.size(), 2u + 64u);
  EXPECT_GT(simulate(*schedule, schedule->machine).makespan_ns,
            schedule->functions[0].predicted_makespan_ns);
}

TEST_F(SimulatedScheduleTest, EmptyResultsReturnInNoTime) {
  Machine machine = ::autopar::planning::cpuAndGpus(1, 2, false);
  std::optional<Schedule> schedule = compile(R"(
    func.func @main() -> (tensor<0xi8>, tensor<100xi8>) {
      %0:2 = autopar.synthetic_task() {label = "t", cost_ns = {gpu0 = 10}} : () -> (tensor<0xi8>, tensor<100xi8>)
      return %0#0, %0#1 : tensor<0xi8>, tensor<100xi8>
    })",
                                             machine);
  ASSERT_TRUE(schedule);
  expectAsPredicted(*schedule);
  EXPECT_EQ(schedule->functions[0].predicted_makespan_ns, 10 + 5 + 100);
}

TEST_F(SimulatedScheduleTest, OnlyReuseOfScarceMemoryIsNotInThePrediction) {
  unsigned withReuse = 0, asPredicted = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    RandomGraphOptions options;
    options.family = Family(seed % ::autopar::planning::kFamilyCount);
    options.seed = seed;
    options.tasks = 20;
    options.streams = 3;
    options.sharePercent = 80;
    options.hasHost = options.results = true;
    options.links = LinkSet::Engines;
    RandomProblem problem = randomProblem(options);
    std::string text = programText(problem.graph, problem.machine);
    std::optional<Schedule> roomy = compile(text, problem.machine);
    ASSERT_TRUE(roomy);
    // Three quarters of what the roomy schedule takes.
    for (const ::autopar::Space &space : roomy->functions[0].spaces)
      if (space.kind == ::autopar::SpaceKind::kArena &&
          space.device != problem.machine.HostDevice())
        problem.machine.devices[space.device.index()].memory_bytes = space.bytes / 4 * 3;
    std::optional<Schedule> schedule = tryCompile(text, problem.machine, PlanSchedulePassOptions());
    if (!schedule)
      continue; // it does not fit, and the stage memory says so
    const Function &function = schedule->functions[0];
    bool reuses = llvm::any_of(function.commands, [](const Command &command) {
      return command.kind == CommandKind::kWait && command.reason == ::autopar::WaitReason::kReuse;
    });
    withReuse += reuses;
    if (reuses)
      continue; // waits that the plan has not
    // What a plan puts off until there is room may run earlier where the buffers happen to fit.
    int64_t simulatedNs = simulate(*schedule, schedule->machine).makespan_ns;
    EXPECT_LE(simulatedNs, function.predicted_makespan_ns) << describe(options);
    asPredicted += simulatedNs == function.predicted_makespan_ns;
  }
  EXPECT_GT(withReuse, 0u);
  EXPECT_GT(asPredicted, 0u);
}

} // namespace
} // namespace mlir::autopar
