#include "runtime/schedule/order_checker.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/status.h"
#include "runtime/schedule/access_map.h"
#include "runtime/schedule/command_order.h"
#include "runtime/schedule/describe.h"

namespace autopar {
namespace {

class OrderChecker {
 public:
  OrderChecker(const Schedule& schedule, const Function& function);

  absl::Status Check();

 private:
  absl::Status CheckTokens();
  absl::Status CheckAccesses();
  absl::Status CheckOperands(size_t first, size_t count, AccessKind kind,
                             absl::Span<const Region> in_place_reads);
  absl::Status CheckResults() const;

  absl::Status Explain(const Region& region, AccessKind kind, const AccessFault& fault) const;
  // How to get `earlier` before the current command.
  std::string Remedy(uint32_t earlier) const;
  // The region of `command` that holds the byte, as text; what the file declares, not the overlap.
  std::string RegionAt(uint32_t command, SpaceId space, uint64_t at, bool is_written) const;
  std::string Name(uint32_t command) const {
    return DescribeCommand(schedule_, function_, command);
  }
  template <class... Parts>
  absl::Status Fail(const Parts&... parts) const {
    return absl::InvalidArgumentError(
        absl::StrCat("function ", Quoted(function_.name), ": ", parts...));
  }

  const Schedule& schedule_;
  const Function& function_;
  CommandOrder order_;
  // Arguments and constants are defined on entry and never written: nothing to follow.
  std::vector<std::optional<AccessMap>> maps_;  // by space
  std::vector<TokenEdge> edges_;                // by `after`
  size_t next_edge_ = 0;
};

OrderChecker::OrderChecker(const Schedule& schedule, const Function& function)
    : schedule_(schedule), function_(function), order_(function), edges_(function.token_edges) {
  for (const Space& space : function.spaces) {
    const bool is_read_only =
        space.kind == SpaceKind::kArgument || space.kind == SpaceKind::kConstant;
    maps_.push_back(is_read_only ? std::nullopt : std::optional<AccessMap>(space.bytes));
  }
  std::sort(edges_.begin(), edges_.end(), [](const TokenEdge& a, const TokenEdge& b) {
    return a.after != b.after ? a.after < b.after : a.before < b.before;
  });
}

absl::Status OrderChecker::Check() {
  for (size_t i = 0; i < function_.commands.size(); ++i) {
    order_.Advance();
    AUTOPAR_RETURN_IF_ERROR(CheckTokens());
    AUTOPAR_RETURN_IF_ERROR(CheckAccesses());
  }
  return CheckResults();
}

absl::Status OrderChecker::CheckTokens() {
  for (; next_edge_ < edges_.size() && edges_[next_edge_].after == order_.current(); ++next_edge_) {
    const uint32_t before = edges_[next_edge_].before;
    if (!order_.IsBefore(before)) {
      return Fail(Name(order_.current()), " starts without waiting for ", Name(before),
                  ", though a token orders them; ", Remedy(before));
    }
  }
  return absl::OkStatus();
}

absl::Status OrderChecker::CheckAccesses() {
  const Command& command = function_.commands[order_.current()];
  if (command.kind != CommandKind::kLaunch && command.kind != CommandKind::kCopy)
    return absl::OkStatus();
  // A product is not finished before its factors were read for the last time, and copies run in
  // chunks of any order.
  const bool may_work_in_place =
      command.kind == CommandKind::kLaunch &&
      schedule_.kernels[command.kernel.index()].kind != KernelKind::kMatmul;
  const auto reads =
      absl::MakeConstSpan(function_.regions).subspan(command.first_region, command.reads);
  const size_t writes = size_t{command.first_region} + command.reads,
               scratch = writes + command.writes;
  AUTOPAR_RETURN_IF_ERROR(
      CheckOperands(command.first_region, command.reads, AccessKind::kRead, {}));
  AUTOPAR_RETURN_IF_ERROR(CheckOperands(writes, command.writes, AccessKind::kWrite,
                                        may_work_in_place ? reads : absl::Span<const Region>()));
  return CheckOperands(scratch, command.scratch, AccessKind::kScratch, {});
}

absl::Status OrderChecker::CheckOperands(size_t first, size_t count, AccessKind kind,
                                         absl::Span<const Region> in_place_reads) {
  for (size_t i = first; i < first + count; ++i) {
    const Region& region = function_.regions[i];
    std::optional<AccessMap>& map = maps_[region.space.index()];
    if (!map) continue;
    if (const auto fault = map->Access(region, kind, order_, in_place_reads))
      return Explain(region, kind, *fault);
  }
  return absl::OkStatus();
}

absl::Status OrderChecker::CheckResults() const {
  for (size_t i = 0; i < function_.results.size(); ++i) {
    const SpaceId space = function_.results[i].space;
    if (const auto fault = maps_[space.index()]->FindUndefined()) {
      return Fail("no command writes the bytes ",
                  DescribeBytes(schedule_, function_, space, fault->begin, fault->end),
                  " of result ", i, "; every byte of a result must be written");
    }
  }
  return absl::OkStatus();
}

// ---- sentences ---------------------------------------------------------------------------------

std::string OrderChecker::Remedy(uint32_t earlier) const {
  const auto stream = [&](uint32_t command) {
    return DescribeStream(schedule_, function_, function_.commands[command].stream);
  };
  return absl::StrCat("let ", stream(order_.current()), " wait for an event that ", stream(earlier),
                      " records after command ", earlier);
}

std::string OrderChecker::RegionAt(uint32_t command_number, SpaceId space, uint64_t at,
                                   bool is_written) const {
  const Command& command = function_.commands[command_number];
  const size_t first = is_written ? command.reads : 0;
  const size_t last =
      is_written ? size_t{command.reads} + command.writes + command.scratch : command.reads;
  for (size_t i = first; i < last; ++i) {
    const Region& region = function_.regions[command.first_region + i];
    if (region.space == space && Contains(region, at))
      return DescribeRegion(schedule_, function_, region);
  }
  // An access that stands for those to the rows around it (AccessMap).
  return absl::StrCat("bytes of ", DescribeSpace(schedule_, function_, space));
}

absl::Status OrderChecker::Explain(const Region& region, AccessKind kind,
                                   const AccessFault& fault) const {
  const std::string bytes =
      DescribeBytes(schedule_, function_, region.space, fault.begin, fault.end);
  const std::string access =
      absl::StrCat(Name(order_.current()), kind == AccessKind::kRead ? " reads " : " writes ",
                   DescribeRegion(schedule_, function_, region));
  switch (fault.kind) {
    case AccessFault::Kind::kUnordered:
      return Fail(access, " while ", Name(*fault.other), " may still be ",
                  fault.other_writes ? "writing " : "reading ",
                  RegionAt(*fault.other, region.space, fault.begin, fault.other_writes),
                  ": both touch ", bytes, " and nothing orders them; ", Remedy(*fault.other));
    case AccessFault::Kind::kUndefined:
      return Fail(access, ", whose bytes ", bytes, " ",
                  fault.other ? absl::StrCat("hold only what the scratch of ", Name(*fault.other),
                                             " left there")
                              : std::string("no command before it writes"),
                  "; every byte must be written before it is read");
    case AccessFault::Kind::kOverlap:
      return Fail(access, " and ", fault.other_writes ? "writes " : "reads ", bytes,
                  " through another operand; the operands of a command may share bytes only where "
                  "both are read, or where "
                  "a kernel other than a matmul overwrites exactly the region that it reads");
  }
  return Fail(access, ", which is not safe");
}

}  // namespace

absl::Status CheckFunctionOrder(const Schedule& schedule, const Function& function) {
  return OrderChecker(schedule, function).Check();
}

}  // namespace autopar
