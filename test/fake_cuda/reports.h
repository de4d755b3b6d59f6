// What the fake found wrong, and what it counted. Reports are kept for tests (fake_cuda.h), and
// appended as lines "KIND: sentence" to the report file or standard error.
#ifndef AUTOPAR_TEST_FAKE_CUDA_REPORTS_H_
#define AUTOPAR_TEST_FAKE_CUDA_REPORTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fake {

enum class ReportKind {
  kRace,           // two operations touch the same bytes and nothing orders them
  kHostAccess,     // the host touched device memory, or pinned memory that a pending copy uses
  kRange,          // a kernel touched bytes outside its operands, or wrote one that it only reads
  kUninitialised,  // an operation reads device bytes that nothing wrote
  kFreed,          // memory was freed while operations may still use it
  kMisuse,         // a call against the rules that CUDA itself would not, or not always, refuse
  kLeak,           // alive at exit
  kError,          // not a fault: why a call returned an error
};

struct Report {
  ReportKind kind;
  std::string text;
};

// Counted since the library was loaded or configured.
struct Stats {
  uint64_t calls = 0;          // that can fail: what `fail=N` counts
  uint64_t waits = 0;          // cudaStreamWaitEvent
  uint64_t implied_waits = 0;  // of which other order already implied
  uint64_t edges = 0;          // between nodes of instantiated graphs
  uint64_t syncs = 0;          // cudaEventSynchronize, cudaStreamSynchronize, cudaDeviceSynchronize
  uint64_t host_blocks = 0;    // calls that are not meant to, and waited for the device
  uint64_t allocations = 0;    // of device and pinned memory
  uint64_t operations = 0;     // executed
  uint64_t kernels = 0;        // launched, products included
  uint64_t lazy_loads = 0;     // launches that were the kernel's first use on their device
  uint64_t pageable_copies = 0;
  uint64_t staged_peer_copies = 0;  // between devices without peer access
  uint64_t peer_copies = 0;
  uint64_t graph_launches = 0;
  uint64_t dropped_and_implied = 0;  // waits or edges left out on request that other order implied
};

const char* Name(ReportKind kind);
// Name and value of each.
std::vector<std::pair<const char*, uint64_t>> Counters(const Stats& stats);

class Reports {
 public:
  explicit Reports(std::string path) : path_(std::move(path)) {}
  void Add(ReportKind kind, std::string text);
  // One line with all counters.
  void Write(const Stats& stats);
  const std::vector<Report>& all() const { return all_; }
  // Without kError.
  size_t faults() const { return faults_; }

 private:
  void Line(const std::string& line);

  std::string path_;
  std::vector<Report> all_;
  size_t faults_ = 0;
};

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_REPORTS_H_
