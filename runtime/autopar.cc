#include "runtime/autopar.h"

namespace autopar {

const char* Version() { return AUTOPAR_VERSION; }

}  // namespace autopar
