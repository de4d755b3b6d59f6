// autopar-run: executes a schedule file. Exit status 0, or 1 with one sentence on standard error.
#include <cstdio>
#include <new>
#include <string>

#include "tools/autopar-run/flags.h"
#include "tools/autopar-run/run.h"

namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "autopar-run: error: %s\n", message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  // No memory for a list or a text: the one exception of the standard library that a good input can
  // cause.
  try {
    const absl::StatusOr<autopar::ParsedFlags> parsed = autopar::ParseFlags(argc, argv);
    if (!parsed.ok()) return Fail(std::string(parsed.status().message()));
    if (parsed->is_done)
      return std::fputs(parsed->text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
    const absl::Status status = autopar::Run(parsed->flags);
    return status.ok() ? 0 : Fail(std::string(status.message()));
  } catch (const std::bad_alloc&) {
    return Fail("there is not enough memory");
  }
}
