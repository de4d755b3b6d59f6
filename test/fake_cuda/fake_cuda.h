// libautopar_fake_cuda.so: the CUDA runtime and cuBLAS without a GPU, for tests. It exports CUDA's
// own names; a program reaches it by its path (autopar-run --cuda-library=PATH,
// AUTOPAR_CUDA_LIBRARY) and is configured by the environment variables AUTOPAR_FAKE_CUDA
// (options.h) and AUTOPAR_FAKE_SCHEDULE (kernels.h).
//
// These further names are for tests that load it into their own process. One thread at a time, none
// in a CUDA call.
#ifndef AUTOPAR_TEST_FAKE_CUDA_FAKE_CUDA_H_
#define AUTOPAR_TEST_FAKE_CUDA_FAKE_CUDA_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Starts anew with these options: nothing is allocated, counted or reported. 0, or 1 if the text is
// not understood.
int autopar_fake_configure(const char* options);

// A kernel of the test's: `run` is called once a launch, with a pointer per parameter. Must be told
// before the library that names the kernel is loaded; survives no autopar_fake_configure.
enum { AUTOPAR_FAKE_READ = 1, AUTOPAR_FAKE_WRITE = 2, AUTOPAR_FAKE_SCRATCH = 4 };
typedef struct {
  uint64_t bytes;
  int access;  // AUTOPAR_FAKE_READ, _WRITE, both, or _SCRATCH
} autopar_fake_operand;
void autopar_fake_register_kernel(const char* name, const autopar_fake_operand* operands,
                                  size_t count, void (*run)(void* const* buffers));

// Reports so far whose line "KIND: sentence" begins with `prefix`; "" counts all but "error:".
size_t autopar_fake_count(const char* prefix);
// The line of report `index` among those; valid until the next call of it. Null if there is none.
const char* autopar_fake_report(const char* prefix, size_t index);
// A counter by its name in the line "stats:"; 0 if it is unknown.
uint64_t autopar_fake_stat(const char* name);
// Adds the reports of what is alive now, as at exit.
void autopar_fake_report_leaks(void);
// The context error of a device, and of nothing: what the fake itself knows, whatever calls return.
int autopar_fake_sticky(int device);

#ifdef __cplusplus
}
#endif

#endif  // AUTOPAR_TEST_FAKE_CUDA_FAKE_CUDA_H_
