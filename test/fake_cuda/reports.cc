#include "test/fake_cuda/reports.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace fake {

const char* Name(ReportKind kind) {
  switch (kind) {
    case ReportKind::kRace:
      return "race";
    case ReportKind::kHostAccess:
      return "host access";
    case ReportKind::kRange:
      return "range";
    case ReportKind::kUninitialised:
      return "uninitialised";
    case ReportKind::kFreed:
      return "freed";
    case ReportKind::kMisuse:
      return "misuse";
    case ReportKind::kLeak:
      return "leak";
    case ReportKind::kError:
      return "error";
  }
  return "?";
}

void Reports::Add(ReportKind kind, std::string text) {
  constexpr size_t kMost = 1000;  // a broken loop must not fill the disk
  if (all_.size() >= kMost) return;
  if (kind != ReportKind::kError) ++faults_;
  // Errors are returned to the caller, which says something itself: they go to a file only.
  if (kind != ReportKind::kError || !path_.empty()) Line(std::string(Name(kind)) + ": " + text);
  all_.push_back({kind, std::move(text)});
}

std::vector<std::pair<const char*, uint64_t>> Counters(const Stats& s) {
  return {{"calls", s.calls},
          {"waits", s.waits},
          {"implied_waits", s.implied_waits},
          {"edges", s.edges},
          {"syncs", s.syncs},
          {"host_blocks", s.host_blocks},
          {"allocations", s.allocations},
          {"operations", s.operations},
          {"kernels", s.kernels},
          {"lazy_loads", s.lazy_loads},
          {"pageable_copies", s.pageable_copies},
          {"staged_peer_copies", s.staged_peer_copies},
          {"peer_copies", s.peer_copies},
          {"graph_launches", s.graph_launches},
          {"dropped_and_implied", s.dropped_and_implied}};
}

void Reports::Write(const Stats& stats) {
  if (path_.empty()) return;
  std::string line = "stats:";
  for (const auto& [name, value] : Counters(stats))
    line += std::string(" ") + name + "=" + std::to_string(value);
  Line(line);
}

void Reports::Line(const std::string& text) {
  std::string line = path_.empty() ? "fake CUDA: " + text + "\n" : text + "\n";
  int file = 2;
  if (!path_.empty()) {
    file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) file = 2;
  }
  // One write a line: lines of several processes do not mix.
  if (write(file, line.data(), line.size()) < 0) return;
  if (file != 2) close(file);
}

}  // namespace fake
