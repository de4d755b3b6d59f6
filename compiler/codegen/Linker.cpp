// lld in a child process.

#include "compiler/codegen/Linker.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace mlir::autopar;

namespace {
constexpr llvm::StringLiteral linkerFlag = "--autopar-run-linker";
/// Set for the child. A child that comes here again belongs to a program whose main does not call maybeRunLinker: without
/// this it would start itself for ever.
constexpr const char *childVariable = "AUTOPAR_LINKER_CHILD";
constexpr unsigned linkerSeconds = 600;

llvm::Error linkError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Where a library of the C runtime is, in the order of the distributions' habits.
std::string findSystemLibrary(llvm::StringRef name) {
  for (llvm::StringRef folder : {"/lib/x86_64-linux-gnu/", "/lib64/", "/usr/lib/"})
    if (std::string path = (folder + name).str(); llvm::sys::fs::exists(path))
      return path;
  return {};
}
} // namespace

std::optional<int> mlir::autopar::maybeRunLinker(int argc, char **argv) {
  if (argc < 2 || argv[1] != linkerFlag)
    return std::nullopt;
  std::vector<const char *> arguments = {"ld.lld"};
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(arguments, llvm::outs(), llvm::errs(), drivers);
  return result.retCode;
}

llvm::Expected<std::string> mlir::autopar::linkSharedObject(llvm::ArrayRef<std::string> objects) {
  if (std::getenv(childVariable))
    return linkError("this program cannot link kernels: its main must call maybeRunLinker first");
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("autopar-link", folder))
    return linkError("cannot make a temporary folder: " + error.message() + "; set TMPDIR to a writable folder");
  llvm::scope_exit cleanUp([&] { llvm::sys::fs::remove_directories(folder); });
  auto pathOf = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return std::string(path);
  };
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  std::vector<std::string> arguments = {program,      linkerFlag.str(),  "-shared", "-z",         "now", "-z", "defs",
                                        "--hash-style=gnu", "--strip-debug", "--threads=1"};
  for (size_t number = 0; number < objects.size(); ++number) {
    std::string path = pathOf(llvm::Twine(number) + ".o");
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    stream << objects[number];
    stream.close();
    if (error || stream.has_error()) {
      stream.clear_error();
      return linkError("cannot write '" + path + "': the disk may be full; set TMPDIR to another folder");
    }
    arguments.push_back(path);
  }
  std::string output = pathOf("kernels.so"), messages = pathOf("messages");
  // LLVM turns loops that move bytes into memcpy and memset. Allowed to be absent: then an undefined symbol says so.
  arguments.push_back("--as-needed");
  for (llvm::StringRef name : {"libm.so.6", "libc.so.6"})
    if (std::string path = findSystemLibrary(name); !path.empty())
      arguments.push_back(path);
  llvm::append_range(arguments, std::initializer_list<std::string>{"-o", output});

  std::vector<llvm::StringRef> references(arguments.begin(), arguments.end());
  std::string childMark = std::string(childVariable) + "=1", error;
  std::vector<llvm::StringRef> environment = {childMark};
  for (char **variable = environ; *variable; ++variable)
    environment.push_back(*variable);
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(messages),
                                                llvm::StringRef(messages)};
  int status = llvm::sys::ExecuteAndWait(program, references, llvm::ArrayRef<llvm::StringRef>(environment), redirects,
                                         linkerSeconds, /*MemoryLimit=*/0, &error);
  if (status != 0) {
    auto text = llvm::MemoryBuffer::getFile(messages);
    llvm::StringRef said = text ? (*text)->getBuffer().trim() : llvm::StringRef();
    return linkError("the kernels cannot be linked: " + (said.empty() ? llvm::StringRef(error) : said));
  }
  auto image = llvm::MemoryBuffer::getFile(output);
  if (!image)
    return linkError("the linker left no output in '" + output + "'");
  return (*image)->getBuffer().str();
}
