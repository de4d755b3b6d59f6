#include "tools/autopar-run/compile.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

extern char** environ;

namespace autopar {
namespace {

// The folder of this binary, wherever it was called from.
absl::StatusOr<std::string> OwnFolder() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || static_cast<size_t>(length) == path.size()) {
    return absl::UnavailableError("cannot read /proc/self/exe, which says where autopar-opt lies");
  }
  path.resize(static_cast<size_t>(length));
  return path.substr(0, path.rfind('/'));
}

absl::StatusOr<int> Spawn(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);  // standard output is for results alone
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot start '", command[0], "': ", strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("cannot wait for '", command[0], "': ", strerror(errno)));
    }
  }
  return status;
}

}  // namespace

TemporarySchedule::~TemporarySchedule() {
  unlink(path_.c_str());
  rmdir(folder_.c_str());
}

absl::StatusOr<std::unique_ptr<TemporarySchedule>> CompileProgram(const std::string& program,
                                                                  const std::string& machine) {
  if (access(program.c_str(), R_OK) != 0) return FileError("cannot open", program, errno);
  AUTOPAR_ASSIGN_OR_RETURN(const std::string own_folder, OwnFolder());
  const std::string compiler = own_folder + "/autopar-opt";
  if (access(compiler.c_str(), X_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", program, "' must be compiled, and there is no '", compiler,
                     "'; compile it elsewhere with autopar-opt PROGRAM.mlir -o PROGRAM.sched"));
  }
  const char* temporary = getenv("TMPDIR");
  std::string folder = absl::StrCat(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp",
                                    "/autopar.XXXXXX");
  if (mkdtemp(folder.data()) == nullptr) return FileError("cannot make the folder", folder, errno);
  auto schedule = std::make_unique<TemporarySchedule>(folder);
  std::vector<std::string> command = {compiler, program, "-o", schedule->path()};
  if (!machine.empty()) command.push_back("--machine=" + machine);
  AUTOPAR_ASSIGN_OR_RETURN(const int status, Spawn(command));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return schedule;
  if (WIFSIGNALED(status)) {
    return absl::InternalError(absl::StrCat("autopar-opt died of signal ", WTERMSIG(status), " (",
                                            strsignal(WTERMSIG(status)), ") on '", program, "'"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", program, "' was not compiled; autopar-opt says above why"));
}

}  // namespace autopar
