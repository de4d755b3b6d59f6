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

std::vector<std::string> EnginesOf(const Machine &machine, const char *from, const char *to) {
  const LinkId id = machine.FindLink(machine.FindDevice(from), machine.FindDevice(to));
  if (!id.valid()) return {};
  std::vector<std::string> engines;
  for (uint32_t engine : machine.links[id.index()].engines) engines.push_back(machine.engines[engine]);
  return engines;
}

TEST(Presets, HostHasOneCpuWithTheCoresOfThisProcess) {
  const Machine machine = LoadMachine("host").value();
  ASSERT_EQ(machine.devices.size(), 1 + VisibleGpus().size());
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

// What NVIDIA's driver writes for each GPU, by PCI address.
class DriverFolder {
 public:
  DriverFolder() { std::filesystem::create_directories(path_); }
  ~DriverFolder() { std::filesystem::remove_all(path_); }
  void Add(const std::string &address, const std::string &model, const std::string &uuid) {
    std::filesystem::create_directories(path_ / address);
    std::ofstream(path_ / address / "information")
        << "Model: \t\t " << model << "\nIRQ:   \t\t 42\nGPU UUID: \t " << uuid
        << "\nVideo BIOS: \t 90.02.23.00.01\nBus Location: \t " << address << "\n";
  }
  std::vector<std::string> Models(const char *visible) const {
    std::vector<std::string> models;
    for (const InstalledGpu &gpu : SelectGpus(InstalledGpus(path_), visible)) {
      models.push_back(gpu.model);
    }
    return models;
  }

 private:
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                absl::StrCat("autopar_gpus_", getpid());
};

TEST(HostGpus, AreThoseThatTheDriverListsAndTheUserLeavesVisible) {
  using Models = std::vector<std::string>;
  DriverFolder driver;
  EXPECT_EQ(driver.Models(nullptr), Models());
  driver.Add("0000:41:00.0", "NVIDIA L40S", "GPU-c4000000-0000");
  driver.Add("0000:17:00.0", "NVIDIA H200", "GPU-b3000000-0000");
  EXPECT_EQ(driver.Models(nullptr), (Models{"NVIDIA H200", "NVIDIA L40S"}));
  EXPECT_EQ(driver.Models("1,0"), (Models{"NVIDIA L40S", "NVIDIA H200"}));
  EXPECT_EQ(driver.Models("GPU-c4"), Models{"NVIDIA L40S"});
  EXPECT_EQ(driver.Models("0,0"), Models{"NVIDIA H200"}) << "up to the first that is not valid";
  EXPECT_EQ(driver.Models("1,7,0"), Models{"NVIDIA L40S"});
  for (const char *none : {"", "-1", "NoDevFiles", "GPU-", "GPU-d5", ","}) {
    EXPECT_EQ(driver.Models(none), Models()) << none;
  }
  EXPECT_TRUE(InstalledGpus("/no/such/folder").empty());
}

TEST(HostGpus, AreDescribedByTheirDataSheets) {
  const Machine machine = HostMachineWith(
      {{"NVIDIA H200", ""}, {"NVIDIA H200", ""}, {"NVIDIA L40S", ""}, {"Tesla T4", ""}});
  EXPECT_TRUE(CheckMachine(machine).ok());
  ASSERT_EQ(machine.devices.size(), 5u);
  EXPECT_EQ(machine.devices[0].cores, UsableCores());
  const Machine h200 = LoadMachine("h200-sxm:2").value(), cuda = LoadMachine("cuda:4").value();
  EXPECT_EQ(machine.devices[2].memory_bytes, h200.devices[2].memory_bytes);
  EXPECT_EQ(machine.devices[3].arch, "sm_89");
  EXPECT_EQ(machine.devices[4].peak_flops, cuda.devices[4].peak_flops);
  EXPECT_EQ(EnginesOf(machine, "gpu0", "gpu1"), EnginesOf(h200, "gpu0", "gpu1"));
  EXPECT_TRUE(EnginesOf(machine, "gpu0", "gpu2").empty()) << "an SXM module and a card: over the host";
  EXPECT_EQ(EnginesOf(machine, "gpu2", "gpu3"), (std::vector<std::string>{"gpu2.out", "gpu3.in"}));
  EXPECT_EQ(EnginesOf(machine, "cpu0", "gpu3"), std::vector<std::string>{"gpu3.in"});
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

TEST(Presets, DataSheetMachinesAreWholeWhateverThisHostIs) {
  for (const char *name : {"a100-sxm", "h100-sxm", "h200-sxm", "b200", "l40s", "rtx4090"}) {
    for (uint32_t count : {1u, 2u, 8u}) {
      const std::string spec = absl::StrCat(name, ":", count);
      SCOPED_TRACE(spec);
      const absl::StatusOr<Machine> machine = LoadMachine(spec);
      ASSERT_TRUE(machine.ok()) << machine.status();
      EXPECT_TRUE(CheckMachine(*machine).ok());
      EXPECT_EQ(PrintMachine(ParseMachine(PrintMachine(*machine)).value()), PrintMachine(*machine));
      ASSERT_EQ(machine->devices.size(), count + 1);
      EXPECT_EQ(machine->HostDevice(), DeviceId(size_t{0}));
      EXPECT_GE(machine->devices[0].cores, 16u);
      for (uint32_t i = 1; i <= count; ++i) {
        const Device &gpu = machine->devices[i];
        EXPECT_EQ(gpu.name, absl::StrCat("gpu", i - 1));
        EXPECT_EQ(gpu.kind, DeviceKind::kCuda);
        EXPECT_EQ(gpu.arch.substr(0, 3), "sm_");
        EXPECT_GE(gpu.memory_bytes, 24'000'000'000u);
        EXPECT_GE(gpu.memory_bytes_per_s, 800'000'000'000u);
        EXPECT_LE(gpu.peak_flops.at("f64"), gpu.peak_flops.at("f32"));
        EXPECT_LT(gpu.peak_flops.at("f32"), gpu.peak_flops.at("f16"));
        EXPECT_LT(gpu.peak_flops.at("f16"), gpu.peak_flops.at("i8"));
        EXPECT_EQ(gpu.peak_flops.at("f16"), gpu.peak_flops.at("bf16"));
        EXPECT_EQ(EnginesOf(*machine, "cpu0", gpu.name.c_str()),
                  std::vector<std::string>{gpu.name + ".in"});
        EXPECT_EQ(EnginesOf(*machine, gpu.name.c_str(), "cpu0"),
                  std::vector<std::string>{gpu.name + ".out"});
      }
    }
  }
}

// The figures of the sheets once more, by hand.
TEST(Presets, TheH100IsAsItsDataSheetSays) {
  const Machine machine = LoadMachine("h100-sxm:8").value();
  const Device &gpu = machine.devices[8];
  EXPECT_EQ(gpu.name, "gpu7");
  EXPECT_EQ(gpu.arch, "sm_90");
  EXPECT_EQ(gpu.memory_bytes, 80'000'000'000u);
  EXPECT_EQ(gpu.memory_bytes_per_s, 3'350'000'000'000u);
  EXPECT_EQ(gpu.peak_flops.at("f32"), 67e12);
  EXPECT_EQ(gpu.peak_flops.at("bf16"), 1979e12 / 2);
  EXPECT_EQ(machine.devices[0].cores, 112u);
  EXPECT_EQ(machine.links.size(), 2u * 8 + 8 * 7);
  const Link &host = machine.links[machine.FindLink(DeviceId(size_t{0}), DeviceId(size_t{1})).index()];
  EXPECT_EQ(host.bytes_per_s, 128'000'000'000u / 2);
  const Link &peer = machine.links[machine.FindLink(DeviceId(size_t{1}), DeviceId(size_t{2})).index()];
  EXPECT_EQ(peer.bytes_per_s, 900'000'000'000u / 2);
}

TEST(Presets, GpusMeetOverNvlinkOverPcieOrAtTheHost) {
  using Engines = std::vector<std::string>;
  EXPECT_EQ(EnginesOf(LoadMachine("a100-sxm:4").value(), "gpu0", "gpu3"),
            (Engines{"gpu0.nvlink.out", "gpu3.nvlink.in"}));
  EXPECT_EQ(EnginesOf(LoadMachine("l40s:4").value(), "gpu0", "gpu3"),
            (Engines{"gpu0.out", "gpu3.in"}))
      << "the engines that copies from and to the host take too";
  const Machine cards = LoadMachine("rtx4090:2").value();
  EXPECT_FALSE(cards.FindLink(DeviceId(size_t{1}), DeviceId(size_t{2})).valid());
}

TEST(Presets, OtherSpellingsGetTheForms) {
  const std::string forms =
      "; give host, virtual:N, cuda:N (N from 1 to 64), a100-sxm:N, h100-sxm:N, h200-sxm:N, b200:N, "
      "l40s:N, rtx4090:N (N from 1 to 8) or the path of a machine file (JSON)";
  for (const char *spec :
       {"virtual", "virtual:", "virtual:0", "virtual:65", "virtual:-1", "virtual:2x", "virtual: 2",
        "virtual:99999999999", "cuda", "cuda:0", "cuda:x", "h100-sxm", "h100-sxm:0", "h100-sxm:9",
        "rtx4090:x"}) {
    const absl::StatusOr<Machine> machine = LoadMachine(spec);
    ASSERT_FALSE(machine.ok()) << spec;
    EXPECT_EQ(machine.status().message(), absl::StrCat("'", spec, "' is not a machine", forms));
  }
  for (const char *spec : {"no/such.json", "mi300x:8", "h100:8"}) {
    EXPECT_EQ(LoadMachine(spec).status().message(),
              absl::StrCat("cannot open '", spec, "': no such file or folder", forms));
  }
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
