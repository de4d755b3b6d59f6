# lit's configuration for all .mlir and .test files below test/. Paths come from lit.site.cfg.py, which CMake writes.
import os

import lit.formats

config.name = "autopar"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.autopar_build, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.autopar_build, "bin"), config.llvm_tools, config.environment["PATH"]])
for name in ("AUTOPAR_TEST_DATA", "HOME", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%programs", os.path.join(config.test_source_root, "programs")))
if config.cuda_ptxas:
    config.available_features.add("ptxas")
