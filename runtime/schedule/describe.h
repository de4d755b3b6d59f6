// How streams, regions and commands are called in the dump and in the checker's sentences. Total:
// an id that does not exist is printed as such ("@device?7"), so that a broken schedule can be
// dumped too.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_DESCRIBE_H_
#define AUTOPAR_RUNTIME_SCHEDULE_DESCRIBE_H_

#include <cstdint>
#include <string>

#include "runtime/schedule/schedule.h"

namespace autopar {

std::string SpaceKindName(SpaceKind kind);
std::string KernelKindName(KernelKind kind);
std::string WaitReasonName(WaitReason reason);

// Between single quotes, with everything that is not printable escaped.
std::string Quoted(const std::string& name);

// A symbol: "@main"; with double quotes and escapes where the name is not a plain identifier: "@\"a
// b\"".
std::string Symbol(const std::string& name);

// "@gpu0".
std::string DescribeDevice(const Schedule& schedule, DeviceId device);
// "@gpu0[0]" for a compute stream; copy streams by the direction seen from their device:
// "@gpu0[in]" (from the host),
// "@gpu0[out]" (to the host), "@gpu0[to gpu1]"; after the first of a link "@gpu0[in 1]".
std::string DescribeStream(const Schedule& schedule, const Function& function, StreamId stream);
// What bytes of a space are called: "@gpu0" (arena), "arg0", "result1", "const", "state0".
std::string DescribeSpace(const Schedule& schedule, const Function& function, SpaceId space);
// "@gpu0[64 for 256]"; strided: "@gpu0[64 for 16 x 8 by 128]", 8 rows of 16 bytes, 128 apart.
// Offsets into "const" count from the start of the file's constants.
std::string DescribeRegion(const Schedule& schedule, const Function& function,
                           const Region& region);
// The contiguous bytes [begin, end) of a space, in the same spelling.
std::string DescribeBytes(const Schedule& schedule, const Function& function, SpaceId space,
                          uint64_t begin, uint64_t end);
// "command 3 (launch @matmul_0 'layer1' on @gpu0[0])".
std::string DescribeCommand(const Schedule& schedule, const Function& function, uint32_t command);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_DESCRIBE_H_
