// random_graph: writes a random planning problem as a program and a machine file.
//
//   random_graph --family=stencil --tasks=20 --ccr=2 --seed=1 --program=p.mlir --machine=m.json
//   random_graph --any=17 --program=p.mlir --machine=m.json       the 17th problem of the fuzz
//   tests
#include <fstream>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include "test/compiler/planning/graphs/RandomGraphs.h"

using namespace autopar;
using namespace autopar::planning;

static bool writeFile(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file)
    std::cerr << "random_graph: error: '" << path
              << "' cannot be written; check that its folder exists and the disk has room\n";
  return bool(file);
}

int main(int argc, char **argv) {
  RandomGraphOptions options;
  std::string program, machine;
  uint64_t any = 0;
  std::map<std::string, Family> families;
  for (size_t family = 0; family < kFamilyCount; ++family)
    families[std::string(familyName(Family(family)))] = Family(family);
  const std::map<std::string, DeviceSet> deviceSets = {{"identical", DeviceSet::Identical},
                                                       {"gpu-cpu", DeviceSet::GpuAndCpu},
                                                       {"unrelated", DeviceSet::Unrelated}};
  const std::map<std::string, LinkSet> linkSets = {
      {"free", LinkSet::Free}, {"engines", LinkSet::Engines}, {"bus", LinkSet::Bus}};

  CLI::App app("Writes a random planning problem as a program and a machine file.");
  app.add_option("--program", program, "where to write the program")->required();
  app.add_option("--machine", machine, "where to write the machine file")->required();
  app.add_option("--any", any, "draw everything from this seed (from 1); 6 to 60 tasks");
  app.add_option("--family", options.family)->transform(CLI::CheckedTransformer(families));
  app.add_option("--device-set", options.deviceSet)->transform(CLI::CheckedTransformer(deviceSets));
  app.add_option("--links", options.links)->transform(CLI::CheckedTransformer(linkSets));
  app.add_option("--tasks", options.tasks)->check(CLI::Range(1, 10'000'000));
  app.add_option("--width", options.width);
  app.add_option("--devices", options.devices)->check(CLI::Range(1, 256));
  app.add_option("--streams", options.streams)->check(CLI::Range(1, 1024));
  app.add_option("--ccr", options.ccr, "mean transfer time / mean task time")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--mean-ns", options.meanNs)->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("--seed", options.seed);
  app.add_flag("--via-host", options.viaHost);
  app.add_flag("--host", options.hasHost);
  app.add_flag("--overheads", options.overheads);
  app.add_flag("--results", options.results);
  app.add_flag("--inputs", options.inputs);
  app.add_flag("--one-value-per-task", options.oneValuePerTask);
  for (auto [name, percent] : {std::pair{"--shares", &options.sharePercent},
                               {"--pins", &options.pinPercent},
                               {"--groups", &options.groupPercent},
                               {"--tokens", &options.tokenPercent},
                               {"--empty", &options.emptyPercent},
                               {"--cannot-run", &options.cannotRunPercent}})
    app.add_option(name, *percent, "percent")->check(CLI::Range(0, 100));
  CLI11_PARSE(app, argc, argv);

  if (any > 0)
    options = randomOptions(any, 6, 60);
  RandomProblem problem = randomProblem(options);
  return writeFile(program, "// " + describe(options) + "\n" +
                                programText(problem.graph, problem.machine)) &&
                 writeFile(machine, PrintMachine(problem.machine))
             ? 0
             : 1;
}
