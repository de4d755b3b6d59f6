// The JSON form of a machine. The only file of this folder that sees nlohmann::json, whose
// exceptions end here.
#include <cmath>
#include <exception>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/machine/limits.h"
#include "runtime/machine/machine.h"

namespace autopar {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// ---- reading
// --------------------------------------------------------------------------------------------------------

// What stands in the file at a value of the wrong type: "\"x\" (a string)".
std::string Describe(const Json& value) {
  static constexpr const char* kNames[] = {"null",          "an object", "a list",   "a string",
                                           "a truth value", "a number",  "a number", "a number",
                                           "binary",        "invalid"};
  const std::string name = kNames[static_cast<size_t>(value.type())];
  if (value.is_null() || value.is_structured()) return name;
  return absl::StrCat(PrintableText(value.dump(-1, ' ', true, Json::error_handler_t::replace)),
                      " (", name, ")");
}

absl::Status WrongType(const std::string& field, const Json& value, std::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", Describe(value), " where ", std::string(wanted), " is needed"));
}

// The members of one JSON object. Each getter leaves the target as it is if the member is absent.
class Members {
 public:
  Members(const Json& object, std::string field) : object_(object), field_(std::move(field)) {}

  std::string Field(std::string_view key) const {
    return field_.empty() ? std::string(key) : absl::StrCat(field_, ".", std::string(key));
  }

  // The value is an object and has no member but these.
  absl::Status CheckKeys(std::initializer_list<std::string_view> known) const {
    if (!object_.is_object())
      return WrongType(field_.empty() ? "the file" : field_, object_, "an object");
    for (const auto& item : object_.items()) {
      bool is_known = false;
      std::string list;
      for (std::string_view key : known) {
        is_known = is_known || item.key() == key;
        absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(key));
      }
      if (!is_known) {
        return absl::InvalidArgumentError(
            absl::StrCat(Field(PrintableText(item.key())), ": unknown key; known are ", list));
      }
    }
    return absl::OkStatus();
  }

  const Json* Find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  absl::Status Require(const char* key) const {
    if (Find(key) != nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(Field(key), ": missing; it must be given"));
  }

  template <class Number>
  absl::Status Get(const char* key, const Limits& limits, Number* target) const {
    const Json* value = Find(key);
    if (value == nullptr) return absl::OkStatus();
    if (!value->is_number()) return WrongType(Field(key), *value, "a whole number");
    const std::string text = value->dump();
    int64_t whole = 0;
    if (value->is_number_unsigned()) {
      const auto number = value->get<uint64_t>();
      if (number > static_cast<uint64_t>(limits.max)) {
        return absl::InvalidArgumentError(OutOfLimits(Field(key), text, limits));
      }
      whole = static_cast<int64_t>(number);
    } else if (value->is_number_integer()) {
      whole = value->get<int64_t>();
    } else {
      // 5.5e10 is a whole number in JSON's other spelling. Beyond 2^53 a double no longer says
      // which one.
      const auto number = value->get<double>();
      if (number != std::floor(number)) return WrongType(Field(key), *value, "a whole number");
      if (std::fabs(number) > 9007199254740992.0) {
        return absl::InvalidArgumentError(OutOfLimits(Field(key), text, limits) +
                                          ", with all its digits");
      }
      whole = static_cast<int64_t>(number);
    }
    if (whole < limits.min || whole > limits.max) {
      return absl::InvalidArgumentError(OutOfLimits(Field(key), text, limits));
    }
    *target = static_cast<Number>(whole);
    return absl::OkStatus();
  }

  absl::Status Get(const char* key, std::string* target) const {
    const Json* value = Find(key);
    if (value == nullptr) return absl::OkStatus();
    if (!value->is_string()) return WrongType(Field(key), *value, "a string");
    *target = value->get<std::string>();
    return absl::OkStatus();
  }

  absl::Status Get(const char* key, bool* target) const {
    const Json* value = Find(key);
    if (value == nullptr) return absl::OkStatus();
    if (!value->is_boolean()) return WrongType(Field(key), *value, "true or false");
    *target = value->get<bool>();
    return absl::OkStatus();
  }

  absl::Status CheckList(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr || value->is_array()) return absl::OkStatus();
    return WrongType(Field(key), *value, "a list");
  }

 private:
  const Json& object_;
  const std::string field_;
};

absl::Status ReadPeakFlops(const Members& members, Device* device) {
  const Json* rates = members.Find("peak_flops");
  if (rates == nullptr) return absl::OkStatus();
  const std::string field = members.Field("peak_flops");
  if (!rates->is_object()) return WrongType(field, *rates, "an object such as {\"f32\": 6.0e13}");
  for (const auto& item : rates->items()) {
    if (!item.value().is_number()) {
      return WrongType(absl::StrCat(field, ".", PrintableText(item.key())), item.value(),
                       "a number");
    }
    device->peak_flops[item.key()] = item.value().get<double>();
  }
  return absl::OkStatus();
}

absl::Status ReadDevice(const Members& members, Device* device) {
  AUTOPAR_RETURN_IF_ERROR(members.CheckKeys({"name", "kind", "host", "cores", "first_core",
                                             "streams", "arch", "memory_bytes", "peak_flops",
                                             "memory_bytes_per_s", "launch_ns", "wait_ns"}));
  AUTOPAR_RETURN_IF_ERROR(members.Require("name"));
  AUTOPAR_RETURN_IF_ERROR(members.Require("kind"));
  AUTOPAR_RETURN_IF_ERROR(members.Get("name", &device->name));
  std::string kind;
  AUTOPAR_RETURN_IF_ERROR(members.Get("kind", &kind));
  bool is_known = false;
  for (DeviceKind candidate : {DeviceKind::kCpu, DeviceKind::kCuda, DeviceKind::kVirtual}) {
    if (kind != DeviceKindName(candidate)) continue;
    device->kind = candidate;
    is_known = true;
  }
  if (!is_known) {
    return absl::InvalidArgumentError(absl::StrCat(members.Field("kind"), ": unknown kind '",
                                                   PrintableText(kind),
                                                   "'; use cpu, cuda or virtual"));
  }
  for (const char* key : {"cores", "first_core"}) {
    if (device->kind == DeviceKind::kCuda && members.Find(key) != nullptr) return NoCoresOfGpu(members.Field(key));
  }
  AUTOPAR_RETURN_IF_ERROR(members.Get("host", kHostLimits, &device->host));
  AUTOPAR_RETURN_IF_ERROR(members.Get("cores", kCoreLimits, &device->cores));
  AUTOPAR_RETURN_IF_ERROR(members.Get("first_core", kFirstCoreLimits, &device->first_core));
  AUTOPAR_RETURN_IF_ERROR(members.Get("streams", kStreamLimits, &device->streams));
  AUTOPAR_RETURN_IF_ERROR(members.Get("arch", &device->arch));
  AUTOPAR_RETURN_IF_ERROR(members.Get("memory_bytes", kMemoryLimits, &device->memory_bytes));
  AUTOPAR_RETURN_IF_ERROR(
      members.Get("memory_bytes_per_s", kMemoryRateLimits, &device->memory_bytes_per_s));
  AUTOPAR_RETURN_IF_ERROR(members.Get("launch_ns", kTimeLimits, &device->launch_ns));
  AUTOPAR_RETURN_IF_ERROR(members.Get("wait_ns", kTimeLimits, &device->wait_ns));
  return ReadPeakFlops(members, device);
}

// Names -> positions, so that reading stays linear in the file.
using Index = std::map<std::string, size_t>;

absl::Status ReadLink(const Members& members, const Index& devices, Index* engines,
                      Machine* machine) {
  AUTOPAR_RETURN_IF_ERROR(
      members.CheckKeys({"from", "to", "bytes_per_s", "latency_ns", "engines", "emulated"}));
  Link link;
  for (const auto& [key, id] : {std::pair{"from", &link.from}, std::pair{"to", &link.to}}) {
    AUTOPAR_RETURN_IF_ERROR(members.Require(key));
    std::string name;
    AUTOPAR_RETURN_IF_ERROR(members.Get(key, &name));
    const auto found = devices.find(name);
    if (found == devices.end()) {
      return absl::InvalidArgumentError(absl::StrCat(members.Field(key), ": no device is called '",
                                                     PrintableText(name),
                                                     "'; use a name that stands in devices"));
    }
    *id = DeviceId(found->second);
  }
  AUTOPAR_RETURN_IF_ERROR(members.Require("bytes_per_s"));
  AUTOPAR_RETURN_IF_ERROR(members.Get("bytes_per_s", kLinkRateLimits, &link.bytes_per_s));
  AUTOPAR_RETURN_IF_ERROR(members.Get("latency_ns", kTimeLimits, &link.latency_ns));
  AUTOPAR_RETURN_IF_ERROR(members.Get("emulated", &link.emulated));
  AUTOPAR_RETURN_IF_ERROR(members.CheckList("engines"));
  if (const Json* names = members.Find("engines")) {
    for (size_t i = 0; i < names->size(); ++i) {
      const Json& name = (*names)[i];
      if (!name.is_string())
        return WrongType(absl::StrCat(members.Field("engines"), "[", i, "]"), name, "a string");
      const auto [engine, is_new] =
          engines->emplace(name.get<std::string>(), machine->engines.size());
      if (is_new) machine->engines.push_back(engine->first);
      link.engines.push_back(static_cast<uint32_t>(engine->second));
    }
  }
  machine->links.push_back(std::move(link));
  return absl::OkStatus();
}

absl::StatusOr<Machine> ReadMachine(const Json& file) {
  const Members members(file, "");
  AUTOPAR_RETURN_IF_ERROR(members.CheckKeys({"devices", "links"}));
  AUTOPAR_RETURN_IF_ERROR(members.Require("devices"));
  AUTOPAR_RETURN_IF_ERROR(members.CheckList("devices"));
  AUTOPAR_RETURN_IF_ERROR(members.CheckList("links"));
  Machine machine;
  Index device_index, engine_index;
  const Json& devices = *members.Find("devices");
  for (size_t i = 0; i < devices.size(); ++i) {
    Device device;
    AUTOPAR_RETURN_IF_ERROR(
        ReadDevice(Members(devices[i], absl::StrCat("devices[", i, "]")), &device));
    device_index.emplace(device.name, i);
    machine.devices.push_back(std::move(device));
  }
  AUTOPAR_RETURN_IF_ERROR(CheckMachine(machine));  // names first: links go by them
  if (const Json* links = members.Find("links")) {
    for (size_t i = 0; i < links->size(); ++i) {
      AUTOPAR_RETURN_IF_ERROR(ReadLink(Members((*links)[i], absl::StrCat("links[", i, "]")),
                                       device_index, &engine_index, &machine));
    }
  }
  AUTOPAR_RETURN_IF_ERROR(CheckMachine(machine));
  return machine;
}

// JSON allows a key to stand twice in one object and nlohmann::json keeps the last one without a
// word.
class DuplicateKeys {
 public:
  bool Visit(Json::parse_event_t event, const Json& value) {
    switch (event) {
      case Json::parse_event_t::object_start:
        keys_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        if (!keys_.empty()) keys_.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!keys_.empty() && !keys_.back().insert(value.get<std::string>()).second &&
            duplicate_.empty()) {
          duplicate_ = PrintableText(value.get<std::string>());
          found_ = true;
        }
        break;
      default:
        break;
    }
    return true;
  }
  bool found() const { return found_; }
  const std::string& duplicate() const { return duplicate_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::string duplicate_;
  bool found_ = false;
};

// ---- writing
// --------------------------------------------------------------------------------------------------------

OrderedJson DeviceJson(const Device& device) {
  const Device defaults;
  OrderedJson json;
  json["name"] = device.name;
  json["kind"] = DeviceKindName(device.kind);
  json["host"] = device.host;
  if (device.kind != DeviceKind::kCuda || device.cores != defaults.cores)  // the latter only in one made by hand
    json["cores"] = device.cores;
  if (device.first_core != defaults.first_core) json["first_core"] = device.first_core;
  json["streams"] = device.streams;
  if (!device.arch.empty()) json["arch"] = device.arch;
  if (device.memory_bytes != 0) json["memory_bytes"] = device.memory_bytes;
  if (!device.peak_flops.empty()) json["peak_flops"] = device.peak_flops;
  if (device.memory_bytes_per_s != 0) json["memory_bytes_per_s"] = device.memory_bytes_per_s;
  if (device.launch_ns != 0) json["launch_ns"] = device.launch_ns;
  if (device.wait_ns != 0) json["wait_ns"] = device.wait_ns;
  return json;
}

OrderedJson LinkJson(const Machine& machine, const Link& link) {
  // Ids are checked for machines that were read; a machine made by hand may hold anything.
  const auto device_name = [&](DeviceId id) {
    return id.index() < machine.devices.size() ? machine.devices[id.index()].name : std::string();
  };
  OrderedJson json;
  json["from"] = device_name(link.from);
  json["to"] = device_name(link.to);
  json["bytes_per_s"] = link.bytes_per_s;
  if (link.latency_ns != 0) json["latency_ns"] = link.latency_ns;
  if (!link.engines.empty()) {
    OrderedJson names = OrderedJson::array();
    for (uint32_t engine : link.engines) {
      names.push_back(engine < machine.engines.size() ? machine.engines[engine] : std::string());
    }
    json["engines"] = std::move(names);
  }
  if (link.emulated) json["emulated"] = true;
  return json;
}

// One line per device and link.
void AppendList(std::string_view key, const std::vector<OrderedJson>& items, std::string* text) {
  absl::StrAppend(text, "  \"", std::string(key), "\": [");
  for (size_t i = 0; i < items.size(); ++i) {
    absl::StrAppend(text, i == 0 ? "\n    " : ",\n    ",
                    items[i].dump(-1, ' ', true, OrderedJson::error_handler_t::replace));
  }
  absl::StrAppend(text, items.empty() ? "]" : "\n  ]");
}

}  // namespace

absl::StatusOr<Machine> ParseMachine(std::string_view json) {
  try {
    DuplicateKeys keys;
    const Json file = Json::parse(
        json.begin(), json.end(),
        [&keys](int, Json::parse_event_t event, Json& value) { return keys.Visit(event, value); });
    if (keys.found()) {
      return absl::InvalidArgumentError(absl::StrCat("the key '", keys.duplicate(),
                                                     "' stands twice in one object; give it once"));
    }
    return ReadMachine(file);
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string_view what = error.what();
    const size_t end = what.find("] ");
    return absl::InvalidArgumentError(absl::StrCat(
        "not JSON: ", std::string(end == std::string_view::npos ? what : what.substr(end + 2))));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("cannot read the machine: ", error.what()));
  }
}

std::string PrintMachine(const Machine& machine) {
  std::vector<OrderedJson> devices, links;
  for (const Device& device : machine.devices) devices.push_back(DeviceJson(device));
  for (const Link& link : machine.links) links.push_back(LinkJson(machine, link));
  std::string text = "{\n";
  AppendList("devices", devices, &text);
  text += ",\n";
  AppendList("links", links, &text);
  text += "\n}\n";
  return text;
}

uint64_t MachineFingerprint(const Machine& machine) {
  const std::string text = PrintMachine(machine);
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace autopar
