#include "runtime/device/cuda/cuda_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

// Two levels, so that a name which is a macro is looked up as what it stands for.
#define AUTOPAR_STRING(name) AUTOPAR_STRING_OF(name)
#define AUTOPAR_STRING_OF(name) #name

constexpr int kCudaMajor = CUDART_VERSION / 1000;
constexpr const char* kToolkitFolder = "/usr/local/cuda/lib64/";

// Fills one entry; names the first that is missing.
template <class Function>
void Find(void* library, const char* name, Function* entry, const char** missing) {
  *entry = reinterpret_cast<Function>(dlsym(library, name));
  if (*entry == nullptr && *missing == nullptr) *missing = name;
}

void* OpenLibrary(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

std::string LastLoadError() {
  const char* message = dlerror();
  return message != nullptr ? message : "unknown error";
}

// The first of `paths` that opens, with its path; null if none does.
std::pair<void*, std::string> OpenFirst(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (void* handle = OpenLibrary(path)) return {handle, path};
  }
  return {nullptr, ""};
}

// What was asked for; empty: search.
std::string AskedPath(const std::string& path) {
  if (!path.empty()) return path;
  const char* variable = std::getenv("AUTOPAR_CUDA_LIBRARY");
  return variable != nullptr ? variable : "";
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

absl::StatusOr<CudaApi*> CudaApi::Open(const std::string& path) {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, CudaApi*>;
  const std::string asked = AskedPath(path);
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = opened->find(asked);
  if (found != opened->end()) return found->second;

  const std::string soname = absl::StrCat("libcudart.so.", kCudaMajor);
  std::pair<void*, std::string> library;
  if (!asked.empty()) {
    library = OpenFirst({asked});
    if (library.first == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the CUDA runtime library '", asked, "' cannot be opened: ", LastLoadError()));
    }
  } else {
    library = OpenFirst({soname, kToolkitFolder + soname});
    if (library.first == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "there is no CUDA runtime library: ", soname, " is neither where the loader looks nor in ",
          kToolkitFolder, "; install the CUDA toolkit ", kCudaMajor,
          " or name the file with --cuda-library=PATH (PyTorch's wheels hold one in "
          "site-packages/nvidia)"));
    }
  }
  CudaApi* api = new CudaApi;
  api->handle_ = library.first;
  api->path_ = library.second;
  const char* missing = nullptr;
#define AUTOPAR_FIND(name) Find(api->handle_, AUTOPAR_STRING(name), &api->name, &missing);
  AUTOPAR_CUDART_CALLS(AUTOPAR_FIND)
#undef AUTOPAR_FIND
  if (missing != nullptr) {
    absl::Status status = absl::FailedPreconditionError(absl::StrCat(
        "'", api->path_, "' is no CUDA runtime library of version ", kCudaMajor, ": it lacks ",
        missing, "; install the CUDA toolkit ", kCudaMajor, " or name another file with "
        "--cuda-library=PATH"));
    delete api;
    return status;
  }
  opened->emplace(asked, api);
  return api;
}

absl::StatusOr<const CublasCalls*> CudaApi::Cublas() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!cublas_tried_) {
    cublas_tried_ = true;
    cublas_status_ = OpenCublas();
  }
  if (!cublas_status_.ok()) return cublas_status_;
  return &cublas_;
}

absl::Status CudaApi::OpenCublas() {
  void* library = handle_;
  std::string path = path_;
  if (dlsym(handle_, AUTOPAR_STRING(cublasCreate)) == nullptr) {
    const std::string soname = absl::StrCat("libcublas.so.", kCudaMajor);
    std::vector<std::string> places;
    if (!FolderOf(path_).empty()) places.push_back(FolderOf(path_) + soname);
    places.push_back(soname);
    places.push_back(kToolkitFolder + soname);
    std::tie(library, path) = OpenFirst(places);
    if (library == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "products on a GPU need ", soname, ", which is neither beside ", path_,
          " nor where the loader looks; install cuBLAS ", kCudaMajor));
    }
  }
  const char* missing = nullptr;
#define AUTOPAR_FIND(name) Find(library, AUTOPAR_STRING(name), &cublas_.name, &missing);
  AUTOPAR_CUBLAS_CALLS(AUTOPAR_FIND)
#undef AUTOPAR_FIND
  if (missing == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("'", path, "' lacks ", missing,
                                                    "; install cuBLAS ", kCudaMajor));
}

}  // namespace autopar
