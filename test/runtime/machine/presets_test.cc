#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "runtime/machine/machine.h"
#include "runtime/machine/probe.h"

namespace autopar {
namespace {

TEST(Presets, HostIsOneCpuWithTheCoresOfThisProcess) {
  const Machine machine = LoadMachine("host").value();
  ASSERT_EQ(machine.devices.size(), 1u);
  const Device &cpu = machine.devices[0];
  EXPECT_EQ(cpu.name, "cpu0");
  EXPECT_EQ(cpu.kind, DeviceKind::kCpu);
  EXPECT_EQ(cpu.cores, UsableCores());
  EXPECT_EQ(cpu.streams, cpu.cores);
  EXPECT_EQ(cpu.first_core, -1);
  EXPECT_GT(cpu.memory_bytes, uint64_t{64} << 20);
  EXPECT_GT(cpu.peak_flops.at("f32"), 1e9);
  EXPECT_TRUE(CheckMachine(machine).ok());
}

TEST(Presets, AffinityCutsTheCores) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(UsableCores(), 1u);
  EXPECT_EQ(HostMachine().devices[0].cores, 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(Presets, VirtualGpusStandOnCoresInTurn) {
  for (uint32_t count : {1u, 2u, 64u}) {
    const Machine machine = LoadMachine("virtual:" + std::to_string(count)).value();
    ASSERT_EQ(machine.devices.size(), count + 1);
    EXPECT_EQ(machine.devices[0].first_core, -1) << "the CPU floats";
    for (uint32_t i = 0; i < count; ++i) {
      const Device &gpu = machine.devices[i + 1];
      EXPECT_EQ(gpu.name, "gpu" + std::to_string(i));
      EXPECT_EQ(gpu.kind, DeviceKind::kVirtual);
      EXPECT_EQ(gpu.cores, 1u);
      EXPECT_EQ(gpu.first_core, static_cast<int32_t>(i % UsableCores()));
      EXPECT_EQ(gpu.streams, 8u);
    }
    EXPECT_TRUE(CheckMachine(machine).ok());
    EXPECT_EQ(PrintMachine(ParseMachine(PrintMachine(machine)).value()), PrintMachine(machine));
  }
}

TEST(Presets, EveryPairIsLinkedBothWaysOverItsOwnEngines) {
  const Machine machine = LoadMachine("virtual:3").value();
  EXPECT_EQ(machine.links.size(), 2u * 3 + 3 * 2);
  for (size_t from = 0; from < 4; ++from) {
    for (size_t to = 0; to < 4; ++to) {
      if (from == to) continue;
      const LinkId id = machine.FindLink(DeviceId(from), DeviceId(to));
      ASSERT_TRUE(id.valid());
      const Link &link = machine.links[id.index()];
      EXPECT_FALSE(link.emulated);
      std::vector<std::string> engines;
      for (uint32_t engine : link.engines) engines.push_back(machine.engines[engine]);
      std::vector<std::string> expected;
      if (from != 0) expected.push_back(machine.devices[from].name + ".out");
      if (to != 0) expected.push_back(machine.devices[to].name + ".in");
      EXPECT_EQ(engines, expected);
    }
  }
}

TEST(Presets, CudaGpusAreOfTheBaselineArchitecture) {
  const Machine machine = LoadMachine("cuda:2").value();
  ASSERT_EQ(machine.devices.size(), 3u);
  EXPECT_EQ(machine.devices[2].name, "gpu1");
  EXPECT_EQ(machine.devices[2].kind, DeviceKind::kCuda);
  EXPECT_EQ(machine.devices[2].arch, "sm_75");
  EXPECT_EQ(machine.links[0].bytes_per_s, 25'000'000'000u);
  EXPECT_EQ(machine.links[0].latency_ns, 8000);
}

TEST(Presets, OtherSpellingsGetTheForms) {
  for (const char *spec :
       {"virtual", "virtual:", "virtual:0", "virtual:65", "virtual:-1", "virtual:2x", "virtual: 2",
        "virtual:99999999999", "cuda", "cuda:0", "cuda:x"}) {
    const absl::StatusOr<Machine> machine = LoadMachine(spec);
    ASSERT_FALSE(machine.ok()) << spec;
    EXPECT_EQ(machine.status().message(),
              absl::StrCat("'", spec,
                           "' is not a machine; give host, virtual:N, cuda:N (N from 1 to 64) or "
                           "the path of a machine file "
                           "(JSON)"));
  }
  EXPECT_EQ(LoadMachine("no/such.json").status().message(),
            "cannot open 'no/such.json': no such file or folder; give host, virtual:N, cuda:N (N "
            "from 1 to 64) or the "
            "path of a machine file (JSON)");
  EXPECT_EQ(LoadMachine("/").status().message(),
            "machine file: cannot read '/': it is a folder, not a file");
}

TEST(Presets, FileErrorsNameTheFile) {
  const std::string path =
      testing::TempDir() + "/virtual-box." + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"({"devices":[{"name":"a","kind":"cpu","cores":0}]})";
  EXPECT_EQ(LoadMachine(path).status().message(),
            "machine file '" + path +
                "': devices[0].cores: 0 is out of range; give a whole number from 1 to 65536");
  std::ofstream(path) << R"({"devices":[{"name":"a","kind":"cpu"}]})";
  EXPECT_TRUE(LoadMachine(path).ok());
  std::filesystem::remove(path);
}

TEST(Probe, CpuQuotaIsRoundedUp) {
  EXPECT_EQ(CoresOfCpuMax("max 100000\n"), 0u);
  EXPECT_EQ(CoresOfCpuMax("150000 100000\n"), 2u);
  EXPECT_EQ(CoresOfCpuMax("100000 100000"), 1u);
  EXPECT_EQ(CoresOfCpuMax("1000 100000"), 1u);
  EXPECT_EQ(CoresOfCpuMax(""), 0u);
  EXPECT_EQ(CoresOfCpuMax("5 0"), 0u);
  EXPECT_EQ(CoresOfCpuMax("x 9"), 0u);
}

TEST(Probe, MemoryLimit) {
  EXPECT_EQ(BytesOfMemoryMax("max\n"), 0u);
  EXPECT_EQ(BytesOfMemoryMax("1073741824\n"), 1073741824u);
  EXPECT_EQ(BytesOfMemoryMax("9223372036854771712\n"), 0u);
}

TEST(Probe, CgroupFolderOfBothVersions) {
  constexpr char kText[] = "9:name=systemd:/a\n4:cpuset,memory:/b/c\n2:cpu,cpuacct:/d\n0::/e\n";
  EXPECT_EQ(CgroupFolder(kText, ""), "/e");
  EXPECT_EQ(CgroupFolder(kText, "cpu"), "/d");
  EXPECT_EQ(CgroupFolder(kText, "memory"), "/b/c");
  EXPECT_EQ(CgroupFolder(kText, "pids"), "");
  EXPECT_EQ(CgroupFolder("garbage", "cpu"), "");
}

}  // namespace
}  // namespace autopar
