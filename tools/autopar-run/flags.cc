// The only file that sees CLI11, whose exceptions end here.
#include "tools/autopar-run/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "runtime/autopar.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

// Features of the command line that this version has no use for: one sentence each instead of
// silence.
struct LaterFlags {
  std::string parameters, save_parameters;
};

// What is parsed by hand.
struct Texts {
  std::vector<std::string> device_lists;
  std::string cuda_graph = "auto";
};

void Declare(CLI::App* app, Flags* flags, LaterFlags* later, Texts* texts) {
  // Not a list that swallows what follows it: one value per occurrence.
  const auto repeated = [app](const char* name, std::vector<std::string>* target,
                              const char* help) {
    app->add_option(name, *target, help)->allow_extra_args(false)->type_name("VALUE");
  };
  app->add_option("program", flags->program,
                  "Schedule (.sched), or program (.mlir) to compile and run");
  app->add_option("--function", flags->function,
                  "Function to call (default: main, or the only one)");
  repeated("--input", &flags->inputs,
           "One per argument: @x.npy, 2x2xf32=1,2,3,4, 2x2xf32=0.5 (one value fills), "
           "2x2xf32=@x.bin (raw bytes)");
  repeated("--output", &flags->outputs, "One per result: @y.npy, @y.bin (raw bytes), - (print)");
  repeated("--expected-output", &flags->expected_outputs,
           "One per result, in the forms of --input; (ignored) skips one");
  app->add_option("--expected-rtol", flags->tolerance.rtol,
                  "Relative tolerance of --expected-output for floats")
      ->capture_default_str();
  app->add_option("--expected-atol", flags->tolerance.atol,
                  "Absolute tolerance of --expected-output for floats")
      ->capture_default_str();
  app->add_option("--output-max-element-count", flags->output_max_element_count,
                  "Most elements of a result that are printed")
      ->capture_default_str();
  repeated("--device", &texts->device_lists,
           "Run the schedule's devices on others: gpu0=cuda:1,gpu1=virtual:0; several times: all of "
           "them");
  app->add_option("--repeat", flags->repeat,
                  "Call so many times and print one line of times (milliseconds)");
  app->add_option("--warmup", flags->warmup, "Calls before those that count")
      ->capture_default_str();
  app->add_option("--trace", flags->trace,
                  "Write the last call as a Chrome trace (opens in Perfetto)");
  app->add_option("--profile", flags->profile,
                  "Write measured task times, for autopar-opt --profile");
  app->add_flag("--dump", flags->dump, "Print the schedule as text and run nothing");
  app->add_flag(
      absl::StrCat("--simulate{", kOwnMachine, "}"), flags->simulate,
      "Run nothing: replay the schedule on a machine's description (the schedule's own, or "
      "--simulate=MACHINE) and print one line: the makespan and the predicted one");
  app->add_flag(
      "--describe-machine", flags->describe_machine,
      "Print this machine's measured machine file (JSON); with --machine, that machine's");
  app->add_option(
      "--machine", flags->machine,
      "For a .mlir program: the machine to plan for (host, virtual:N, cuda:N, h100-sxm:N, ..., FILE.json)");
  app->add_option("--cuda-graph", texts->cuda_graph,
                  "Replay what GPUs do without the host as CUDA graphs: auto, on or off")
      ->capture_default_str();
  app->add_flag("--tf32", flags->cuda.tf32, "Let products on GPUs round their factors to TF32");
  app->add_option("--cuda-library", flags->cuda.cudart_path,
                  "The CUDA runtime library to open (default: AUTOPAR_CUDA_LIBRARY, else libcudart)");
  app->add_option("--parameters", later->parameters, "Load state from a safetensors file");
  app->add_option("--save-parameters", later->save_parameters, "Save state to a safetensors file");
  app->add_option("--delay-seed", flags->delay_seed,
                  "Tests: sleep a random moment before commands (0: off)");
  app->add_flag("--poison", flags->poison,
                "Tests: fill arenas with a pattern and check the gaps after each call");
}

absl::Status CheckLater(const LaterFlags& later) {
  const auto no = [](const char* flag, const char* why) {
    return absl::UnimplementedError(absl::StrCat(flag, ": ", why));
  };
  if (!later.parameters.empty() || !later.save_parameters.empty()) {
    return no(later.parameters.empty() ? "--save-parameters" : "--parameters",
              "this version keeps no state between calls; pass weights with --input=@x.npy");
  }
  return absl::OkStatus();
}

absl::Status ParseCudaGraph(const std::string& text, CudaGraphMode* mode) {
  if (text == "auto") {
    *mode = CudaGraphMode::kAuto;
  } else if (text == "on") {
    *mode = CudaGraphMode::kOn;
  } else if (text == "off") {
    *mode = CudaGraphMode::kOff;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("--cuda-graph: '", text, "' is not auto, on or off"));
  }
  return absl::OkStatus();
}

// "gpu0=cuda:1,gpu1=cuda:1" joins what `map` has. To say the same twice is no error.
absl::Status ParseDeviceList(const std::string& text, std::map<std::string, std::string>* map) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--device: '", item, "' is not NAME=DEVICE, such as gpu0=virtual:0"));
    }
    const auto [mapped, is_new] = map->emplace(item.substr(0, equals), item.substr(equals + 1));
    if (!is_new && mapped->second != item.substr(equals + 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--device: '", mapped->first, "' is mapped twice, to ", mapped->second,
                       " and to ", item.substr(equals + 1)));
    }
    begin = end + 1;
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const Flags& flags) {
  const auto out_of_range = [](const char* flag, const char* range) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": give ", range));
  };
  if (flags.repeat < 1 || flags.repeat > 1'000'000'000)
    return out_of_range("--repeat", "1 to 1000000000");
  if (flags.warmup < 0 || flags.warmup > 1'000'000'000)
    return out_of_range("--warmup", "0 to 1000000000");
  if (flags.output_max_element_count < 0)
    return out_of_range("--output-max-element-count", "0 or more");
  // Written so that NaN fails.
  if (!(flags.tolerance.rtol >= 0)) return out_of_range("--expected-rtol", "0 or more");
  if (!(flags.tolerance.atol >= 0)) return out_of_range("--expected-atol", "0 or more");
  if (flags.program.empty() && !flags.describe_machine) {
    return absl::InvalidArgumentError("no program is given; autopar-run PROGRAM.sched (or --help)");
  }
  if (!flags.program.empty() && flags.describe_machine) {
    return absl::InvalidArgumentError("--describe-machine runs no program; leave '" +
                                      flags.program + "' out");
  }
  return absl::OkStatus();
}

// A replay runs nothing, so what a run needs or yields has no meaning.
absl::Status CheckSimulate(const CLI::App& app) {
  if (app.count("--simulate") == 0) return absl::OkStatus();
  for (const char* flag :
       {"--input", "--output", "--expected-output", "--device", "--repeat", "--warmup", "--trace",
        "--profile", "--dump", "--delay-seed", "--poison", "--describe-machine"}) {
    if (app.count(flag) == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--simulate runs nothing; leave ", flag, " out, or --simulate"));
  }
  return absl::OkStatus();
}

// One line, without CLI11's newlines.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

absl::StatusOr<ParsedFlags> ParseFlags(int argc, char** argv) {
  ParsedFlags parsed;
  LaterFlags later;
  Texts texts;
  std::vector<std::string> arguments;  // last first, as CLI11 takes them
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    const size_t name_end = std::min(argument.find('='), argument.size());
    if (argument.rfind("--", 0) == 0) {
      std::replace(argument.begin() + 2, argument.begin() + static_cast<std::ptrdiff_t>(name_end),
                   '_', '-');
      if (name_end + 1 == argument.size()) {
        return absl::InvalidArgumentError(absl::StrCat(argument, ": nothing stands behind the ="));
      }
    }
    arguments.insert(arguments.begin(), std::move(argument));
  }
  try {
    CLI::App app("Runs a schedule that autopar-opt wrote.", "autopar-run");
    app.set_version_flag("--version", absl::StrCat("autopar-run ", Version()));
    Declare(&app, &parsed.flags, &later, &texts);
    try {
      app.parse(arguments);
    } catch (const CLI::CallForHelp&) {
      parsed.is_done = true;
      parsed.text = app.help();
      return parsed;
    } catch (const CLI::CallForVersion& version) {
      parsed.is_done = true;
      parsed.text = absl::StrCat(version.what(), "\n");
      return parsed;
    }
    parsed.flags.repeat_given = app.count("--repeat") > 0;
    AUTOPAR_RETURN_IF_ERROR(CheckSimulate(app));
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(OneLine(error.what()), " (autopar-run --help lists all flags)"));
  }
  AUTOPAR_RETURN_IF_ERROR(CheckLater(later));
  AUTOPAR_RETURN_IF_ERROR(ParseCudaGraph(texts.cuda_graph, &parsed.flags.cuda.graph));
  for (const std::string& list : texts.device_lists) {
    AUTOPAR_RETURN_IF_ERROR(ParseDeviceList(list, &parsed.flags.device_map));
  }
  AUTOPAR_RETURN_IF_ERROR(CheckValues(parsed.flags));
  return parsed;
}

}  // namespace autopar
