// Calls a schedule twice with its own buffers, as an application does. Prints the four numbers of
// the result.
#include <cstdio>
#include <string>

#include "runtime/autopar.h"

namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

template <class T>
absl::Span<const uint8_t> Bytes(const T& array) {
  return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(array), sizeof(array));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  auto program = autopar::Program::Load(argv[1]);
  if (!program.ok()) return Fail(program.status());
  auto session = autopar::Session::Create(*program);
  if (!session.ok()) return Fail(session.status());
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1};
  float c[4] = {};
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = (*session)->Call(
        "main", {Bytes(a), Bytes(b)}, {absl::MakeSpan(reinterpret_cast<uint8_t*>(c), sizeof(c))});
    if (!status.ok()) return Fail(status);
  }
  std::printf("autopar %s: %g %g %g %g\n", autopar::Version(), c[0], c[1], c[2], c[3]);
}
