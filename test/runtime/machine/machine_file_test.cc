#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/machine/machine.h"

namespace autopar {
namespace {

constexpr char kExample[] = R"({
  "devices": [
    { "name": "gpu0", "kind": "cuda", "host": 0, "arch": "sm_90", "streams": 8, "memory_bytes": 150000000000,
      "peak_flops": { "f32": 6.0e13, "bf16": 7.9e14 }, "memory_bytes_per_s": 4300000000000,
      "launch_ns": 2500, "wait_ns": 1500 },
    { "name": "cpu0", "kind": "cpu", "host": 0, "cores": 16, "streams": 16, "memory_bytes": 128000000000 },
    { "name": "v", "kind": "virtual", "first_core": 3, "memory_bytes": 1e9 } ],
  "links": [
    { "from": "cpu0", "to": "gpu0", "bytes_per_s": 55000000000, "latency_ns": 8000, "engines": ["cpu0.out", "gpu0.in"] },
    { "from": "cpu0", "to": "v", "bytes_per_s": 1, "emulated": true, "engines": ["cpu0.out"] } ] })";

TEST(MachineFile, EveryFieldIsRead) {
  const absl::StatusOr<Machine> machine = ParseMachine(kExample);
  ASSERT_TRUE(machine.ok()) << machine.status();
  ASSERT_EQ(machine->devices.size(), 3u);
  const Device &gpu = machine->devices[0];
  EXPECT_EQ(gpu.name, "gpu0");
  EXPECT_EQ(gpu.kind, DeviceKind::kCuda);
  EXPECT_EQ(gpu.arch, "sm_90");
  EXPECT_EQ(gpu.streams, 8u);
  EXPECT_EQ(gpu.memory_bytes, 150'000'000'000u);
  EXPECT_EQ(gpu.peak_flops.at("bf16"), 7.9e14);
  EXPECT_EQ(gpu.memory_bytes_per_s, 4'300'000'000'000u);
  EXPECT_EQ(gpu.launch_ns, 2500);
  EXPECT_EQ(gpu.wait_ns, 1500);
  const Device &cpu = machine->devices[1];
  EXPECT_EQ(cpu.kind, DeviceKind::kCpu);
  EXPECT_EQ(cpu.cores, 16u);
  EXPECT_EQ(cpu.first_core, -1);
  EXPECT_EQ(cpu.launch_ns, 0) << "absent overheads are 0";
  EXPECT_EQ(machine->devices[2].kind, DeviceKind::kVirtual);
  EXPECT_EQ(machine->devices[2].first_core, 3);
  EXPECT_EQ(machine->devices[2].memory_bytes, 1'000'000'000u) << "1e9 is a whole number";
  ASSERT_EQ(machine->links.size(), 2u);
  EXPECT_EQ(machine->links[0].from, DeviceId(1));
  EXPECT_EQ(machine->links[0].to, DeviceId(0));
  EXPECT_EQ(machine->links[0].latency_ns, 8000);
  EXPECT_EQ(machine->links[0].engines, (std::vector<uint32_t>{0, 1}));
  EXPECT_FALSE(machine->links[0].emulated);
  EXPECT_EQ(machine->links[1].engines, (std::vector<uint32_t>{0}))
      << "the same name is the same engine";
  EXPECT_TRUE(machine->links[1].emulated);
  EXPECT_EQ(machine->engines, (std::vector<std::string>{"cpu0.out", "gpu0.in"}));
}

TEST(MachineFile, PrintingIsAFixedPoint) {
  const std::string first = PrintMachine(ParseMachine(kExample).value());
  const absl::StatusOr<Machine> again = ParseMachine(first);
  ASSERT_TRUE(again.ok()) << again.status() << first;
  EXPECT_EQ(PrintMachine(*again), first);
  EXPECT_EQ(again->links[1].emulated, true);
  EXPECT_EQ(again->devices[0].peak_flops.at("f32"), 6.0e13);
}

TEST(MachineFile, FingerprintSeesEveryField) {
  const Machine base = ParseMachine(kExample).value();
  EXPECT_EQ(MachineFingerprint(base), MachineFingerprint(ParseMachine(PrintMachine(base)).value()));
  const std::vector<std::function<void(Machine *)>> changes = {
      [](Machine *m) { m->devices[0].name = "gpu9"; },
      [](Machine *m) { m->devices[0].kind = DeviceKind::kVirtual; },
      [](Machine *m) { m->devices[0].host = 1; },
      [](Machine *m) { m->devices[0].cores = 2; },
      [](Machine *m) { m->devices[1].cores = 2; },
      [](Machine *m) { m->devices[1].first_core = 0; },
      [](Machine *m) { m->devices[1].streams = 2; },
      [](Machine *m) { m->devices[0].arch = "sm_80"; },
      [](Machine *m) { m->devices[0].memory_bytes = 1; },
      [](Machine *m) { m->devices[0].peak_flops["f32"] = 6.00001e13; },
      [](Machine *m) { m->devices[0].memory_bytes_per_s = 0; },
      [](Machine *m) { m->devices[0].launch_ns = 0; },
      [](Machine *m) { m->devices[0].wait_ns = 1; },
      [](Machine *m) { m->links[0].bytes_per_s += 1; },
      [](Machine *m) { m->links[0].latency_ns = 0; },
      [](Machine *m) { m->links[0].engines = {0}; },
      [](Machine *m) { m->links[0].emulated = true; },
      [](Machine *m) { std::swap(m->links[0].from, m->links[0].to); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Machine changed = base;
    changes[i](&changed);
    EXPECT_NE(MachineFingerprint(changed), MachineFingerprint(base)) << "change " << i;
  }
}

struct BadFile {
  const char *json;
  const char *message;
};

// The device and link that the bad files spoil one field of.
#define CPU R"("name":"cpu0","kind":"cpu")"
#define TWO R"("devices":[{"name":"a","kind":"cpu"},{"name":"b","kind":"virtual"}])"

const BadFile kBadFiles[] = {
    {"[]", "the file: a list where an object is needed"},
    {"{}", "devices: missing; it must be given"},
    {R"({"devices":[]})", "devices: the list is empty; a machine has at least one device"},
    {R"({"devices":{}})", "devices: an object where a list is needed"},
    {R"({"devices":[{)" CPU R"(}],"link":[]})", "link: unknown key; known are devices, links"},
    {R"({"devices":[{)" CPU R"(}],"links":3})", "links: 3 (a number) where a list is needed"},
    {R"({"devices":[7]})", "devices[0]: 7 (a number) where an object is needed"},
    {R"({"devices":[{"kind":"cpu"}]})", "devices[0].name: missing; it must be given"},
    {R"({"devices":[{"name":"a"}]})", "devices[0].kind: missing; it must be given"},
    {R"({"devices":[{"name":4,"kind":"cpu"}]})",
     "devices[0].name: 4 (a number) where a string is needed"},
    {R"({"devices":[{"name":"","kind":"cpu"}]})",
     "devices[0].name: '' is not a name; begin with a letter or _ and go on with letters, digits, "
     "'_', '.' or '-'"},
    {R"({"devices":[{"name":"a b","kind":"cpu"}]})",
     "devices[0].name: 'a b' is not a name; begin with a letter or _ and go on with letters, "
     "digits, '_', '.' or '-'"},
    {R"({"devices":[{"name":"a\nb","kind":"cpu"}]})",
     "devices[0].name: 'a?b' is not a name; begin with a letter or _ and go on with letters, "
     "digits, '_', '.' or '-'"},
    {R"({"devices":[{"name":"a","kind":"tpu"}]})",
     "devices[0].kind: unknown kind 'tpu'; use cpu, cuda or virtual"},
    {R"({"devices":[{)" CPU R"(},{)" CPU R"(}]})",
     "devices[1].name: 'cpu0' is the name of devices[0] already; names must be unique"},
    {R"({"devices":[{)" CPU R"(,"core":4}]})",
     "devices[0].core: unknown key; known are name, kind, host, cores, first_core, streams, arch, "
     "memory_bytes, "
     "peak_flops, memory_bytes_per_s, launch_ns, wait_ns"},
    {R"({"devices":[{"name":"g","kind":"cuda","cores":1}]})",
     "devices[0].cores: only a device of kind cpu or virtual has cores; leave it out"},
    {R"({"devices":[{"name":"g","kind":"cuda","first_core":0}]})",
     "devices[0].first_core: only a device of kind cpu or virtual has cores; leave it out"},
    {R"({"devices":[{)" CPU R"(,"cores":0}]})",
     "devices[0].cores: 0 is out of range; give a whole number from 1 to 65536"},
    {R"({"devices":[{)" CPU R"(,"cores":4294967297}]})",
     "devices[0].cores: 4294967297 is out of range; give a whole number from 1 to 65536"},
    {R"({"devices":[{)" CPU R"(,"cores":1.5}]})",
     "devices[0].cores: 1.5 (a number) where a whole number is needed"},
    {R"({"devices":[{)" CPU R"(,"cores":"4"}]})",
     "devices[0].cores: \"4\" (a string) where a whole number is needed"},
    {R"({"devices":[{)" CPU R"(,"first_core":-2}]})",
     "devices[0].first_core: -2 is out of range; give a whole number from -1 to 65535"},
    {R"({"devices":[{)" CPU R"(,"streams":1000000}]})",
     "devices[0].streams: 1000000 is out of range; give a whole number from 1 to 1024"},
    {R"({"devices":[{)" CPU R"(,"host":-1}]})",
     "devices[0].host: -1 is out of range; give a whole number from 0 to 65535"},
    {R"({"devices":[{)" CPU R"(,"memory_bytes":-5}]})",
     "devices[0].memory_bytes: -5 is out of range; give a whole number of bytes from 0 to "
     "1152921504606846976"},
    {R"({"devices":[{)" CPU R"(,"memory_bytes":18446744073709551615}]})",
     "devices[0].memory_bytes: 18446744073709551615 is out of range; give a whole number of bytes "
     "from 0 to "
     "1152921504606846976"},
    {R"({"devices":[{)" CPU R"(,"memory_bytes":1e300}]})",
     "devices[0].memory_bytes: 1e+300 is out of range; give a whole number of bytes from 0 to "
     "1152921504606846976, "
     "with all its digits"},
    {R"({"devices":[{)" CPU R"(,"memory_bytes":null}]})",
     "devices[0].memory_bytes: null where a whole number is needed"},
    {R"({"devices":[{)" CPU R"(,"launch_ns":-1}]})",
     "devices[0].launch_ns: -1 is out of range; give a whole number of nanoseconds from 0 to "
     "1000000000000000"},
    {R"({"devices":[{)" CPU R"(,"wait_ns":0.5}]})",
     "devices[0].wait_ns: 0.5 (a number) where a whole number is needed"},
    {R"({"devices":[{)" CPU R"(,"peak_flops":1}]})",
     "devices[0].peak_flops: 1 (a number) where an object such as {\"f32\": 6.0e13} is needed"},
    {R"({"devices":[{)" CPU R"(,"peak_flops":{"f33":1}}]})",
     "devices[0].peak_flops.f33: no element type; use f32, f64, f16, bf16, i1, i8, i32 or i64"},
    {R"({"devices":[{)" CPU R"(,"peak_flops":{"f32":0}}]})",
     "devices[0].peak_flops.f32: 0 is out of range; give operations per second from 1 to 1e21"},
    {R"({"devices":[{)" CPU R"(,"peak_flops":{"f32":"x"}}]})",
     "devices[0].peak_flops.f32: \"x\" (a string) where a number is needed"},
    {R"({"devices":[{)" CPU R"(,"arch":"sm_90"}]})",
     "devices[0].arch: only a device of kind cuda has one; leave it out"},
    {R"({"devices":[{"name":"g","kind":"cuda","arch":"volta"}]})",
     "devices[0].arch: 'volta' is not an architecture such as sm_90"},
    {"{" TWO R"(,"links":[{"from":"a","bytes_per_s":1}]})",
     "links[0].to: missing; it must be given"},
    {"{" TWO R"(,"links":[{"from":"a","to":"c","bytes_per_s":1}]})",
     "links[0].to: no device is called 'c'; use a name that stands in devices"},
    {"{" TWO R"(,"links":[{"from":"a","to":"a","bytes_per_s":1}]})",
     "links[0]: leads from 'a' to itself; a device needs no link to its own memory"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b"}]})",
     "links[0].bytes_per_s: missing; it must be given"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":0}]})",
     "links[0].bytes_per_s: 0 is out of range; give a whole number of bytes per second from 1 to "
     "1000000000000000000"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":1,"latency_ns":-3}]})",
     "links[0].latency_ns: -3 is out of range; give a whole number of nanoseconds from 0 to "
     "1000000000000000"},
    {"{" TWO
     R"(,"links":[{"from":"a","to":"b","bytes_per_s":1},{"from":"b","to":"a","bytes_per_s":1},)"
     R"({"from":"a","to":"b","bytes_per_s":2}]})",
     "links[2]: leads from 'a' to 'b' as links[0] does already; give one link per direction"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":1,"engines":"x"}]})",
     "links[0].engines: \"x\" (a string) where a list is needed"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":1,"engines":[1]}]})",
     "links[0].engines[0]: 1 (a number) where a string is needed"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":1,"engines":["x","x"]}]})",
     "links[0].engines[1]: 'x' stands twice; name it once"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":1,"emulated":1}]})",
     "links[0].emulated: 1 (a number) where true or false is needed"},
    {"{" TWO R"(,"links":[{"from":"a","to":"b","bytes_per_s":1,"speed":1}]})",
     "links[0].speed: unknown key; known are from, to, bytes_per_s, latency_ns, engines, emulated"},
    {R"({"devices":[{)" CPU R"(,"cores":2,"cores":3}]})",
     "the key 'cores' stands twice in one object; give it once"},
};

TEST(MachineFile, BadFileIsOneSentenceThatNamesTheField) {
  for (const BadFile &bad : kBadFiles) {
    const absl::StatusOr<Machine> machine = ParseMachine(bad.json);
    ASSERT_FALSE(machine.ok()) << bad.json;
    EXPECT_EQ(machine.status().message(), bad.message) << bad.json;
    EXPECT_EQ(machine.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(MachineFile, WhatIsNotJsonIsRefused) {
  std::vector<std::string> texts = {"",    "{",     "\"",       "{\"devices\":[}",
                                    "nul", "{} {}", "\x80\xff", std::string(3, '\0')};
  texts.push_back(std::string(200000, '['));
  for (const std::string &text : texts) {
    const absl::StatusOr<Machine> machine = ParseMachine(text);
    ASSERT_FALSE(machine.ok());
    const std::string message(machine.status().message());
    EXPECT_EQ(message.rfind("not JSON: ", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
  }
}

TEST(MachineFile, EveryTruncationIsRefused) {
  const std::string text = PrintMachine(ParseMachine(kExample).value());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(ParseMachine(text.substr(0, length)).ok()) << length;
  }
}

TEST(MachineFile, EveryByteChangeIsRefusedOrGivesASoundMachine) {
  const std::string text = PrintMachine(ParseMachine(kExample).value());
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      const absl::StatusOr<Machine> machine = ParseMachine(changed);
      if (!machine.ok()) continue;
      EXPECT_TRUE(CheckMachine(*machine).ok());
      EXPECT_EQ(PrintMachine(ParseMachine(PrintMachine(*machine)).value()), PrintMachine(*machine));
    }
  }
}

}  // namespace
}  // namespace autopar
