"""The installed runtime component: moved to another folder it runs with an empty environment and takes nothing but the
base system's libraries from outside; an application builds against its CMake package. Everything installed: a program is compiled
and run. Run by ctest as
   install_test.py CMAKE BUILD_FOLDER MAKE_SCHEDULES [autopar-opt]      the last where the build has a compiler"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

CMAKE, BUILD_FOLDER, MAKE_SCHEDULES = sys.argv[1:4]
HAS_COMPILER = "autopar-opt" in sys.argv[4:]
HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = ["--input=2x3xf32=1,2,3,4,5,6", "--input=3x2xf32=1,0,0,1,1,1"]
BASE_SYSTEM = re.compile(r"/(ld-linux-x86-64|libc|libm|libstdc\+\+|libgcc_s)\.so")


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def check(folder):
    schedule = os.path.join(folder, "schedules", "product.sched")
    os.mkdir(os.path.dirname(schedule))
    output(MAKE_SCHEDULES, os.path.dirname(schedule))
    staged, moved = os.path.join(folder, "staged"), os.path.join(folder, "moved")
    output(CMAKE, "--install", BUILD_FOLDER, "--component", "runtime", "--prefix", staged)
    os.rename(staged, moved)
    tool = os.path.join(moved, "bin", "autopar-run")

    printed = output(tool, schedule, *INPUTS, env={})
    assert printed == "result[0]: 2x2xf32=[4 5][10 11]\n", printed

    loaded = subprocess.run([tool, schedule, *INPUTS], env={"LD_DEBUG": "libs"}, capture_output=True, text=True).stderr
    libraries = set(re.findall(r"calling init: (\S+)", loaded))
    assert any(library.startswith(moved) for library in libraries), loaded
    strangers = [library for library in libraries if not library.startswith(moved) and not BASE_SYSTEM.search(library)]
    assert not strangers, f"taken from outside of the installed folder: {strangers}"
    assert not [library for library in libraries if re.search("(?i)llvm|mlir", library)]

    build = os.path.join(folder, "consumer")
    configured = subprocess.run([CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", build, f"-DCMAKE_PREFIX_PATH={moved}",
                                 "-DCMAKE_BUILD_TYPE=Release"], capture_output=True, text=True)
    assert (configured.returncode, configured.stderr) == (0, ""), configured
    output(CMAKE, "--build", build)
    printed = output(os.path.join(build, "consumer"), schedule)
    assert re.fullmatch(r"autopar \d+\.\d+\.\d+: 4 5 10 11\n", printed), printed


def check_compiler(folder):
    staged, moved = os.path.join(folder, "staged_all"), os.path.join(folder, "moved_all")
    output(CMAKE, "--install", BUILD_FOLDER, "--prefix", staged)
    os.rename(staged, moved)
    version = output(os.path.join(moved, "bin", "autopar-opt"), "--version", env={})
    assert version.startswith("autopar-opt "), version
    program = os.path.join(folder, "twice.mlir")
    with open(program, "w") as file:
        file.write("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                   "  %y = autopar.add %x, %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n")
    printed = output(os.path.join(moved, "bin", "autopar-run"), program, "--input=2xf32=1,2", env={})
    assert printed == "result[0]: 2xf32=2 4\n", printed


folder = tempfile.mkdtemp(prefix="autopar_install_test.")
try:
    check(folder)
    if HAS_COMPILER:
        check_compiler(folder)
finally:
    shutil.rmtree(folder)
