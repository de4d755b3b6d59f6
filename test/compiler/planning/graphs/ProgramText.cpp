// A task graph as a program of autopar.synthetic_task, in the generic form that scripts write.
#include <sstream>

#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {

namespace {

class ProgramWriter {
public:
  ProgramWriter(const TaskGraph &graph, const Machine &machine)
      : graph(graph), machine(machine), names(graph.valueCount()) {
    for (const ProgramResult &result : graph.programResults())
      if (isWritten(result.value))
        results.push_back(result);
  }

  std::string run() {
    out << "func.func @main(";
    const char *separator = "";
    for (size_t index = 0; index < graph.valueCount(); ++index) {
      const Value &value = graph.value(ValueId(index));
      if (value.producer.valid() || !isWritten(ValueId(index)))
        continue;
      names[index] = "%a" + std::to_string(index);
      out << separator << names[index] << ": " << type(value) << place(value.residentDevice);
      separator = ", ";
    }
    out << ")";
    writeResultTypes();
    out << " {\n";
    for (TaskId task : graph.topologicalOrder())
      writeTask(task);
    writeReturn();
    out << "}\n";
    return out.str();
  }

private:
  /// What is everywhere from the start makes nobody wait, and no program can say it.
  bool isWritten(ValueId id) const {
    return graph.value(id).producer.valid() || graph.value(id).residentDevice.valid();
  }
  std::string type(const Value &value) const {
    if (value.isToken)
      return "!autopar.token";
    return "tensor<" + std::to_string(value.bytes) + "xi8>";
  }
  /// `device` as an argument's or result's attribute.
  std::string place(DeviceId device) const {
    return device.valid() ? " {autopar.device = \"" + machine.devices[device.index()].name + "\"}"
                          : std::string();
  }

  void writeResultTypes() {
    if (results.empty())
      return;
    out << " -> (";
    for (size_t i = 0; i < results.size(); ++i)
      out << (i > 0 ? ", " : "") << type(graph.value(results[i].value)) << place(results[i].device);
    out << ")";
  }

  void writeReturn() {
    out << "  return";
    for (size_t i = 0; i < results.size(); ++i)
      out << (i > 0 ? ", " : " ") << names[results[i].value.index()];
    for (size_t i = 0; i < results.size(); ++i)
      out << (i > 0 ? ", " : " : ") << type(graph.value(results[i].value));
    out << "\n";
  }

  template <class List> void writeTypes(const List &values) {
    out << "(";
    for (size_t i = 0; i < values.size(); ++i)
      out << (i > 0 ? ", " : "") << type(graph.value(values[i]));
    out << ")";
  }

  void writeTask(TaskId id) {
    const std::span<const ValueId> produced = graph.produced(id);
    std::vector<ValueId> operands;
    for (ValueId operand : graph.operands(id))
      if (isWritten(operand))
        operands.push_back(operand);
    const std::string name = "%" + std::to_string(id.value);
    out << "  ";
    if (!produced.empty())
      out << name << (produced.size() > 1 ? ":" + std::to_string(produced.size()) : "") << " = ";
    for (size_t i = 0; i < produced.size(); ++i)
      names[produced[i].index()] = produced.size() > 1 ? name + "#" + std::to_string(i) : name;
    out << "\"autopar.synthetic_task\"(";
    for (size_t i = 0; i < operands.size(); ++i)
      out << (i > 0 ? ", " : "") << names[operands[i].index()];
    out << ") {label = \"" << graph.task(id).label << "\", cost_ns = {";
    writeDictionary(1, [&](DeviceId device) { return double(graph.costNs(id, device)); });
    out << "}";
    bool hasShare = false;
    for (size_t device = 0; device < machine.devices.size(); ++device)
      hasShare |= graph.occupancy(id, DeviceId(device)) < kFullOccupancy;
    if (hasShare) {
      out << ", occupancy = {";
      // Readers round down: half a millionth more keeps the share.
      writeDictionary(7, [&](DeviceId device) {
        uint32_t share = graph.occupancy(id, device);
        return share == kFullOccupancy ? 1.0 : (double(share) + 0.5) / kFullOccupancy;
      });
      out << "}";
    }
    if (graph.task(id).pinnedDevice.valid())
      out << ", device = \"" << machine.devices[graph.task(id).pinnedDevice.index()].name << "\"";
    if (graph.task(id).colocationGroup != kNoGroup)
      out << ", colocate = \"g" << graph.task(id).colocationGroup << "\"";
    out << "} : ";
    writeTypes(operands);
    out << " -> ";
    writeTypes(produced);
    out << "\n";
  }

  /// Devices with a negative number are left out.
  template <class NumberOf> void writeDictionary(int digits, NumberOf numberOf) {
    const char *separator = "";
    for (size_t device = 0; device < machine.devices.size(); ++device) {
      const double number = numberOf(DeviceId(device));
      if (number < 0)
        continue;
      std::ostringstream text;
      text.precision(digits);
      text << std::fixed << number;
      out << separator << machine.devices[device].name << " = " << text.str();
      separator = ", ";
    }
  }

  const TaskGraph &graph;
  const Machine &machine;
  std::vector<std::string> names; // by value
  std::vector<ProgramResult> results;
  std::ostringstream out;
};

} // namespace

std::string programText(const TaskGraph &graph, const Machine &machine) {
  return ProgramWriter(graph, machine).run();
}

} // namespace autopar::planning
