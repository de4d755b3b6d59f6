#include "tools/autopar-run/values.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/io/compare.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor_text.h"

namespace autopar {
namespace {

constexpr char kIgnored[] = "(ignored)";

// "input 0", "input 0 (x)".
std::string PortName(const char* what, size_t index, const Port& port) {
  return absl::StrCat(what, " ", index,
                      port.name.empty() ? "" : absl::StrCat(" (", port.name, ")"));
}

std::string TypeList(const std::vector<Port>& ports) {
  constexpr size_t kMaxNamed = 8;
  std::string list;
  for (size_t i = 0; i < ports.size() && i < kMaxNamed; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", ports[i].type.ToString());
  }
  if (ports.size() > kMaxNamed) absl::StrAppend(&list, ", ...");
  return list;
}

absl::Status WrongCount(const Function& function, const char* flag, size_t given, const char* what,
                        const std::vector<Port>& ports) {
  return absl::InvalidArgumentError(absl::StrCat(
      "function '", function.name, "' has ", ports.size(), " ", what, ports.size() == 1 ? "" : "s",
      ports.empty() ? "" : absl::StrCat(" (", TypeList(ports), ")"), ", but ", flag, " is given ",
      given, given == 1 ? " time" : " times", "; give it once per ", what));
}

// The same sentence with "input 0: " before it.
absl::Status Prefixed(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

absl::StatusOr<Tensor> ReadValue(const std::string& name, const Port& port,
                                 const std::string& text) {
  absl::StatusOr<Tensor> tensor = ParseTensor(text, port.type.element);
  if (!tensor.ok()) return Prefixed(name, tensor.status());
  if (tensor->type() == port.type) return tensor;
  return absl::InvalidArgumentError(absl::StrCat(
      name, ": ", text[0] == '@' ? absl::StrCat("'", text.substr(1), "' ") : "", "has type ",
      tensor->type().ToString(), ", but the program's is ", port.type.ToString()));
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

absl::Status Print(size_t index, const Tensor& result, int64_t max_elements) {
  const std::string text = absl::StrCat(
      "result[", index, "]: ", PrintTensor(result.type(), result.bytes(), max_elements), "\n");
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    return FileError("cannot write to", "standard output", errno);
  }
  return absl::OkStatus();
}

// Pinned where the program runs on GPUs.
absl::StatusOr<Tensor> AllocateIn(const Program& program, const TensorType& type) {
  if (!program.UsesCuda()) return Tensor::Allocate(type);
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<HostBuffer> buffer, program.AllocateBuffer(type.bytes()));
  return Tensor::Adopt(type, buffer->bytes().data(), [buffer](uint8_t*) {});
}

}  // namespace

absl::StatusOr<const Function*> ChooseFunction(const Schedule& schedule, const std::string& name) {
  if (const Function* function = schedule.FindFunction(name.empty() ? "main" : name))
    return function;
  if (name.empty() && schedule.functions.size() == 1) return &schedule.functions[0];
  std::string list;
  for (const Function& function : schedule.functions) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", function.name);
    if (list.size() > 300) {
      list += ", ...";
      break;
    }
  }
  if (list.empty())
    return absl::InvalidArgumentError(
        "the schedule has no function; compile a program that has one");
  if (name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the schedule has no function 'main'; choose one with --function= among ", list));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the schedule has no function '", name, "'; it has ", list));
}

absl::Status CheckCounts(const Function& function, const Flags& flags) {
  if (flags.inputs.size() != function.arguments.size()) {
    return WrongCount(function, "--input", flags.inputs.size(), "argument", function.arguments);
  }
  if (!flags.outputs.empty() && flags.outputs.size() != function.results.size()) {
    return WrongCount(function, "--output", flags.outputs.size(), "result", function.results);
  }
  if (!flags.expected_outputs.empty() && flags.expected_outputs.size() != function.results.size()) {
    return WrongCount(function, "--expected_output", flags.expected_outputs.size(), "result",
                      function.results);
  }
  for (const std::string& output : flags.outputs) {
    const bool is_file = output.size() > 5 && output[0] == '@' &&
                         (EndsWith(output, ".npy") || EndsWith(output, ".bin"));
    if (output == "-" || is_file) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--output=", output, " is not @FILE.npy, @FILE.bin or - (print)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> ReadInputs(const Function& function, const Program& program,
                                                const Flags& flags) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const Port& port = function.arguments[i];
    AUTOPAR_ASSIGN_OR_RETURN(Tensor tensor,
                             ReadValue(PortName("input", i, port), port, flags.inputs[i]));
    if (program.UsesCuda()) {
      AUTOPAR_ASSIGN_OR_RETURN(Tensor pinned, AllocateIn(program, port.type));
      std::copy(tensor.bytes().begin(), tensor.bytes().end(), pinned.bytes().begin());
      tensor = std::move(pinned);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

absl::StatusOr<std::vector<Tensor>> AllocateResults(const Function& function,
                                                    const Program& program) {
  std::vector<Tensor> results;
  for (const Port& port : function.results) {
    AUTOPAR_ASSIGN_OR_RETURN(Tensor tensor, AllocateIn(program, port.type));
    results.push_back(std::move(tensor));
  }
  return results;
}

absl::Status DeliverResults(const Function& function, const Flags& flags,
                            const std::vector<Tensor>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& result = results[i];
    if (flags.outputs.empty()) {
      if (flags.expected_outputs.empty()) {
        AUTOPAR_RETURN_IF_ERROR(Print(i, result, flags.output_max_element_count));
      }
      continue;
    }
    const std::string& output = flags.outputs[i];
    if (output == "-") {
      AUTOPAR_RETURN_IF_ERROR(Print(i, result, flags.output_max_element_count));
    } else if (EndsWith(output, ".npy")) {
      AUTOPAR_RETURN_IF_ERROR(WriteNpy(output.substr(1), result.type(), result.bytes()));
    } else {
      AUTOPAR_RETURN_IF_ERROR(WriteFile(
          output.substr(1), std::string_view(reinterpret_cast<const char*>(result.bytes().data()),
                                             result.bytes().size())));
    }
  }
  if (std::fflush(stdout) != 0) return FileError("cannot write to", "standard output", errno);
  for (size_t i = 0; i < flags.expected_outputs.size(); ++i) {
    if (flags.expected_outputs[i] == kIgnored) continue;
    const std::string name = PortName("result", i, function.results[i]);
    absl::StatusOr<Tensor> expected =
        ParseTensor(flags.expected_outputs[i], function.results[i].type.element);
    if (!expected.ok()) return Prefixed("expected " + name, expected.status());
    AUTOPAR_RETURN_IF_ERROR(CompareTensors(name, results[i], *expected, flags.tolerance));
  }
  return absl::OkStatus();
}

}  // namespace autopar
