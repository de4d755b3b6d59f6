// Named index types. Every id is an index into one vector of its owner (named at each alias); ids are never bare
// integers, so that a stream cannot be passed where a device is meant. Plain values, no ownership, thread-free.
#ifndef AUTOPAR_RUNTIME_BASE_IDS_H_
#define AUTOPAR_RUNTIME_BASE_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace autopar {

template <class Tag>
struct Id {
  static constexpr uint32_t kInvalid = 0xffffffffu;
  uint32_t value = kInvalid;

  constexpr Id() = default;
  constexpr explicit Id(size_t index) : value(static_cast<uint32_t>(index)) {}
  constexpr bool valid() const { return value != kInvalid; }
  constexpr size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using DeviceId = Id<struct DeviceTag>;  // Machine::devices
using LinkId = Id<struct LinkTag>;      // Machine::links
using StreamId = Id<struct StreamTag>;  // Function::streams
using SpaceId = Id<struct SpaceTag>;    // Function::spaces
using KernelId = Id<struct KernelTag>;  // Schedule::kernels
using EventId = Id<struct EventTag>;    // [0, Function::event_count)

}  // namespace autopar

template <class Tag>
struct std::hash<autopar::Id<Tag>> {
  size_t operator()(autopar::Id<Tag> id) const { return std::hash<uint32_t>()(id.value); }
};

#endif  // AUTOPAR_RUNTIME_BASE_IDS_H_
