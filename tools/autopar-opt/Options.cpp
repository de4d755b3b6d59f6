#include "tools/autopar-opt/Options.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"

using namespace mlir;
using namespace mlir::autopar;

namespace {

namespace cl = llvm::cl;

/// All flags in one object, made on registration, so that nothing runs before main.
struct Flags {
  cl::OptionCategory category{"autopar", "Compile a program and write its schedule (-o FILE.sched)"};
  cl::opt<std::string> machine{"machine", cl::cat(category), cl::value_desc("host|virtual:N|cuda:N|h100-sxm:N|...|FILE"),
                               cl::desc("The machine that is planned for (default: host)")};
  cl::opt<std::string> stopAfter{"stop-after", cl::cat(category), cl::value_desc("stage"),
                                 cl::desc("Run up to a stage and print the IR; it can be read back and resumed")};
  cl::opt<unsigned> effort{"effort", cl::cat(category), cl::init(1), cl::value_desc("0..3"),
                           cl::desc("How hard to plan (default: 1)")};
  cl::opt<std::string> planner{"planner", cl::cat(category), cl::value_desc("name"),
                               cl::desc("One planner by name instead of the best of several")};
  cl::opt<unsigned> maxStreams{"max-streams", cl::cat(category), cl::init(0), cl::value_desc("N"),
                               cl::desc("Most compute streams a device (default: the machine's)")};
  cl::opt<std::string> fuse{"fuse", cl::cat(category), cl::init("on"), cl::value_desc("on|off"),
                            cl::desc("Fuse tensor ops into kernels (default: on)")};
  cl::opt<std::string> targetCpu{"target-cpu", cl::cat(category), cl::init("native"),
                                 cl::value_desc("native|x86-64-v3|..."),
                                 cl::desc("Processor to generate code for (default: native)")};
  cl::opt<bool> ignorePins{"ignore-pins", cl::cat(category), cl::desc("Place pinned values and ops freely")};
  cl::opt<std::string> report{"report", cl::cat(category), cl::value_desc("FILE.json|-"),
                              cl::desc("Write the plan's figures; alone, it plans and prints no IR")};
  cl::opt<bool> reportText{"report-text", cl::cat(category), cl::desc("Print the plan's figures as one screen")};
  cl::opt<std::string> profile{"profile", cl::cat(category), cl::value_desc("FILE.json"),
                               cl::desc("Measured task times (autopar-run --profile) that override the cost model")};
};

llvm::ManagedStatic<Flags> flags;

} // namespace

void mlir::autopar::registerOptOptions() {
  // libLLVM registers options of its own code generator under some of these names (--stop-after). They mean nothing here
  // and go, so that a name has one meaning.
  auto &known = cl::getRegisteredOptions();
  for (StringRef name : {"machine", "stop-after", "effort", "planner", "max-streams", "fuse", "target-cpu",
                         "ignore-pins", "report", "report-text", "profile"})
    if (auto found = known.find(name); found != known.end())
      found->second->removeArgument();
  (void)*flags;
  // An error is one sentence: without this, a whole function is printed behind it. The flag turns it on again.
  if (auto found = known.find("mlir-print-op-on-diagnostic"); found != known.end())
    static_cast<cl::opt<bool> *>(found->second)->setInitialValue(false);
}

FailureOr<OptOptions> mlir::autopar::readOptOptions(std::string &error) {
  OptOptions options;
  options.pipeline.machine = flags->machine;
  options.pipeline.ignorePins = flags->ignorePins;
  options.pipeline.profile = flags->profile;
  options.pipeline.effort = flags->effort;
  options.pipeline.planner = flags->planner;
  options.pipeline.maxStreams = flags->maxStreams;
  options.pipeline.targetCpu = flags->targetCpu;
  options.reportFile = flags->report;
  options.reportText = flags->reportText;
  if (flags->effort > 3) {
    error = "--effort takes 0 to 3, not " + std::to_string(flags->effort);
    return failure();
  }
  if (flags->maxStreams.getNumOccurrences() > 0 && flags->maxStreams == 0) {
    error = "--max-streams takes 1 or more; without it, a device has as many streams as the machine says";
    return failure();
  }
  if (flags->fuse != "on" && flags->fuse != "off") {
    error = "--fuse takes on or off, not '" + flags->fuse + "'";
    return failure();
  }
  options.pipeline.fuse = flags->fuse == "on";
  for (cl::Option *flag : std::initializer_list<cl::Option *>{&flags->machine, &flags->effort, &flags->planner,
                                                              &flags->maxStreams, &flags->fuse, &flags->targetCpu,
                                                              &flags->ignorePins, &flags->profile})
    if (flag->getNumOccurrences() > 0 && options.pipelineFlag.empty())
      options.pipelineFlag = ("--" + flag->ArgStr).str();
  for (auto *flag : {&flags->machine, &flags->planner, &flags->targetCpu, &flags->report, &flags->profile})
    if (flag->getNumOccurrences() > 0 && flag->empty()) {
      error = ("--" + flag->ArgStr + " needs a value").str();
      return failure();
    }
  options.stopGiven = flags->stopAfter.getNumOccurrences() > 0;
  if (options.stopGiven) {
    std::optional<Stage> stage = parseStage(flags->stopAfter);
    if (!stage) {
      error = "--stop-after knows no stage '" + flags->stopAfter + "'; stages are " + stageNames();
      return failure();
    }
    options.pipeline.stopAfter = *stage;
  }
  return options;
}
