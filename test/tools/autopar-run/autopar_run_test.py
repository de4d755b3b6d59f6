"""Tests of autopar-run's command line, on schedules made by hand (make_schedules). Run by ctest as
   autopar_run_test.py AUTOPAR_RUN MAKE_SCHEDULES [unittest arguments]"""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

AUTOPAR_RUN = os.path.abspath(sys.argv[1])
MAKE_SCHEDULES = os.path.abspath(sys.argv[2])
FAKE_CUDA = os.environ.get("FAKE_CUDA_PATH")  # imitates the CUDA runtime (test/fake_cuda)
PRODUCT_INPUTS = ["--input=2x3xf32=1,2,3,4,5,6", "--input=3x2xf32=[[1 0][0 1][1 1]]"]
PRODUCT_RESULT = "result[0]: 2x2xf32=[4 5][10 11]\n"


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="autopar_run_test.")
        subprocess.run([MAKE_SCHEDULES, cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.maxDiff = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, *arguments, tool=AUTOPAR_RUN, **options):
        return subprocess.run([tool, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, **options)

    def ok(self, *arguments, **options):
        """Standard output of a run that must succeed and say nothing on standard error."""
        done = self.run_tool(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def described(self, *arguments, **options):
        """What --describe-machine prints; a note that the machine is not idle is no fault."""
        done = self.run_tool("--describe-machine", *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\A(note: something else is running here: [^\n]+\n)?\Z")
        return done.stdout

    def error(self, *arguments, **options):
        """The one sentence of a run that must fail with status 1 and print no result."""
        done = self.run_tool(*arguments, **options)
        self.assertEqual(done.returncode, 1, (arguments, done.stderr))
        self.assertRegex(done.stderr, r"\Aautopar-run: error: [^\n]+\n\Z")
        self.assertEqual(done.stdout, "")
        return done.stderr[len("autopar-run: error: "):-1]

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


class Values(RunTest):
    def test_results_are_printed_when_nobody_asks_for_more(self):
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS), PRODUCT_RESULT)
        self.assertEqual(self.ok("virtual_product.sched", *PRODUCT_INPUTS), PRODUCT_RESULT)
        self.assertEqual(self.ok("nothing.sched"), "")

    def test_every_element_type_comes_through(self):
        values = ["2x2xf32=[1 -0][nan 0.1]", "2xf64=inf 1e-300", "2xf16=0.5 65504", "2xbf16=1 -2", "3xi1=1 0 1",
                  "2xi8=-128 127", "i32=-5", "0xi64="]
        printed = self.ok("types.sched", *["--input=" + value for value in values])
        self.assertEqual(printed, "".join(f"result[{i}]: {value}\n" for i, value in enumerate(values)))

    def test_long_results_say_how_much_is_left_out(self):
        printed = self.ok("single.sched", "--input=40x50xf32=1")
        self.assertTrue(printed.endswith(" ... (976 of 2000 elements left out)\n"))
        self.assertEqual(printed.count("1"), 1024)
        printed = self.ok("single.sched", "--input=40x50xf32=1", "--output_max_element_count=2000")
        self.assertNotIn("...", printed)

    def test_output_writes_files_and_prints_what_is_asked(self):
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--output=@c.npy"), "")
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--output=@c.bin"), "")
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--output=-"), PRODUCT_RESULT)
        self.assertEqual(self.read("c.npy")[-16:], self.read("c.bin"))
        self.write("half.bin", self.read("c.bin")[:8])
        self.assertEqual(self.ok("several.sched", "--function=forward", "--input=2xf32=@half.bin"),
                         "result[0]: 2xf32=4 5\n")
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--expected_output=@c.npy"), "")

    @unittest.skipIf(numpy is None, "needs numpy")
    def test_numpy_reads_what_is_written_and_the_other_way_round(self):
        a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        b = numpy.asfortranarray(numpy.arange(6, 12, dtype=">f4").reshape(3, 2))
        numpy.save(self.path("a.npy"), a)
        numpy.save(self.path("b.npy"), b)
        self.ok("product.sched", "--input=@a.npy", "--input=@b.npy", "--output=@ab.npy")
        written = numpy.load(self.path("ab.npy"))
        self.assertEqual(written.dtype, numpy.float32)
        self.assertTrue(numpy.array_equal(written, a @ b.astype(numpy.float32)))

    def test_expected_output_is_silent_when_it_holds(self):
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--expected_output=2x2xf32=4 5 10 11"), "")
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--expected_output=(ignored)"), "")
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--expected_output=2x2xf32=4 5 10 11.5",
                                 "--expected_rtol=0", "--expected_atol=0.5"), "")
        self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, "--expected-output=2x2xf32=4 5 10 11.5",
                                 "--expected-rtol=0.05"), "")

    def test_expected_output_names_what_differs(self):
        self.assertEqual(
            self.error("product.sched", *PRODUCT_INPUTS, "--expected_output=2x2xf32=4 5.5 10 21"),
            "result 0 (c) (2x2xf32): 2 of 4 elements differ (rtol 1e-05, atol 1e-08); first [0,1] is 5 instead of 5.5, "
            "worst [1,1] is 11 instead of 21 (off by 10)")
        self.assertEqual(self.error("product.sched", *PRODUCT_INPUTS, "--expected_output=4xf32=1"),
                         "result 0 (c) has type 2x2xf32, but 4xf32 is expected")
        self.assertEqual(self.error("product.sched", *PRODUCT_INPUTS, "--expected_output=@none.npy"),
                         "expected result 0 (c): cannot open 'none.npy': no such file or folder")

    def test_results_are_written_even_if_they_are_not_what_was_expected(self):
        self.error("product.sched", *PRODUCT_INPUTS, "--output=@kept.npy", "--expected_output=2x2xf32=0")
        self.assertEqual(len(self.read("kept.npy")), 128 + 16)

    def test_wrong_inputs_are_one_sentence(self):
        a, b = PRODUCT_INPUTS
        self.assertEqual(self.error("product.sched", a),
                         "function 'main' has 2 arguments (2x3xf32, 3x2xf32), but --input is given 1 time; give it "
                         "once per argument")
        self.assertEqual(self.error("product.sched", a, b, b),
                         "function 'main' has 2 arguments (2x3xf32, 3x2xf32), but --input is given 3 times; give it "
                         "once per argument")
        self.assertEqual(self.error("nothing.sched", a),
                         "function 'main' has 0 arguments, but --input is given 1 time; give it once per argument")
        self.assertEqual(self.error("product.sched", b, a),
                         "input 0 (a): has type 3x2xf32, but the program's is 2x3xf32")
        self.assertEqual(self.error("product.sched", a, "--input=3x2xf64=1"),
                         "input 1 (b): has type 3x2xf64, but the program's is 3x2xf32")
        self.assertEqual(self.error("product.sched", a, "--input=3x2xf32=1 2"),
                         "input 1 (b): 3x2xf32 needs 6 values (or one for all), not 2")
        self.assertEqual(self.error("product.sched", a, "--input=@none.npy"),
                         "input 1 (b): cannot open 'none.npy': no such file or folder")
        self.assertEqual(self.error("product.sched", a, "--input=@."),
                         "input 1 (b): cannot read '.': it is a folder, not a file")
        self.write("empty.npy", b"")
        self.assertEqual(self.error("product.sched", a, "--input=@empty.npy"),
                         "input 1 (b): 'empty.npy': the file is empty, not a .npy file")
        self.ok("single.sched", "--input=40x50xf32=1", "--output=@big.npy")
        self.assertEqual(self.error("product.sched", a, "--input=@big.npy"),
                         "input 1 (b): 'big.npy' has type 40x50xf32, but the program's is 3x2xf32")

    def test_wrong_outputs_are_one_sentence(self):
        run = ("product.sched", *PRODUCT_INPUTS)
        self.assertIn("has 1 result (2x2xf32), but --output is given 2 times", self.error(*run, "--output=-", "--output=-"))
        self.assertIn("but --expected_output is given 2 times",
                      self.error(*run, "--expected_output=-", "--expected_output=-"))
        self.assertEqual(self.error(*run, "--output=c.npy"), "--output=c.npy is not @FILE.npy, @FILE.bin or - (print)")
        self.assertEqual(self.error(*run, "--output=@no/such/c.npy"),
                         "cannot write 'no/such/c.npy': no such file or folder")
        os.mkdir(self.path("folder.npy"))
        self.assertEqual(self.error(*run, "--output=@folder.npy"),
                         "cannot write 'folder.npy': it is a folder, not a file")

    def test_a_failed_write_loses_nothing(self):
        self.write("old.npy", b"old")
        # The file system is full for this process: no file may grow beyond 100 bytes.
        done = self.run_tool("single.sched", "--input=40x50xf32=1", "--output=@old.npy",
                             preexec_fn=lambda: self.limit_file_size(100))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "autopar-run: error: cannot write 'old.npy': File too large\n")
        self.assertEqual(self.read("old.npy"), b"old")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("old.npy.")], [])

    @staticmethod
    def limit_file_size(limit):
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    def test_standard_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([AUTOPAR_RUN, "product.sched", *PRODUCT_INPUTS], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "autopar-run: error: cannot write to 'standard output': No space left on device\n")


class Programs(RunTest):
    def test_the_function_is_main_or_the_only_one_or_named(self):
        self.assertEqual(self.ok("single.sched", "--input=40x50xf32=1", "--expected_output=40x50xf32=1"), "")
        self.assertEqual(self.ok("several.sched", "--function=backward", "--input=2xi32=1 2"),
                         "result[0]: 2xi32=1 2\n")
        self.assertEqual(self.error("several.sched"), "the schedule has no function 'main'; choose one with --function= "
                                                      "among forward, backward")
        self.assertEqual(self.error("several.sched", "--function=sideways"),
                         "the schedule has no function 'sideways'; it has forward, backward")
        self.assertEqual(self.error("empty.sched"),
                         "the schedule has no function; compile a program that has one")

    def test_what_is_no_schedule_is_refused(self):
        self.assertIn("'none.sched'", self.error("none.sched"))
        self.error(".")
        self.write("zero.sched", b"")
        self.error("zero.sched")
        self.write("garbage.sched", b"garbage" * 1000)
        self.error("garbage.sched")
        whole = self.read("product.sched")
        for length in range(0, len(whole), 97):
            self.write("cut.sched", whole[:length])
            self.error("cut.sched", *PRODUCT_INPUTS)

    def test_dump_prints_the_schedule_and_runs_nothing(self):
        text = self.ok("virtual_product.sched", "--dump")
        self.assertIn("schedule @main", text)
        self.assertIn("because data", text)
        self.assertNotIn("result[0]", text)

    def test_devices_are_mapped(self):
        self.assertEqual(self.ok("virtual_product.sched", *PRODUCT_INPUTS, "--device=gpu0=virtual:0"), PRODUCT_RESULT)
        self.error("virtual_product.sched", *PRODUCT_INPUTS, "--device=gpu7=virtual:0")
        self.error("virtual_product.sched", *PRODUCT_INPUTS, "--device=gpu0=tpu:0")
        self.assertIn("gpu0 is a CUDA device, but ",
                      self.error("virtual_product.sched", *PRODUCT_INPUTS, "--device=gpu0=cuda:0",
                                 "--cuda-library=/no/such/library.so"))
        self.assertEqual(self.error("product.sched", "--device=gpu0"),
                         "--device: 'gpu0' is not NAME=DEVICE, such as gpu0=virtual:0")
        self.assertEqual(self.error("product.sched", "--device=a=virtual:0,a=virtual:1"),
                         "--device: 'a' is mapped twice, to virtual:0 and to virtual:1")

    def test_device_maps_are_joined(self):
        self.assertEqual(self.ok("virtual_product.sched", *PRODUCT_INPUTS, "--device=gpu0=virtual:0", "--device=gpu0=virtual:0"),
                         PRODUCT_RESULT)
        self.assertIn("no device 'gpu7'", self.error("virtual_product.sched", *PRODUCT_INPUTS, "--device=gpu0=virtual:0",
                                                     "--device=gpu7=virtual:0"))
        self.assertEqual(self.error("product.sched", "--device=a=virtual:0", "--device=b=cuda:0,a=cuda:1"),
                         "--device: 'a' is mapped twice, to virtual:0 and to cuda:1")

    def test_test_modes_keep_results(self):
        self.assertEqual(self.ok("virtual_product.sched", *PRODUCT_INPUTS, "--poison", "--delay_seed=7", "--repeat=3",
                                 "--expected_output=2x2xf32=4 5 10 11").count("time_ms"), 1)


class Measurements(RunTest):
    def test_repeat_adds_one_line(self):
        printed = self.ok("product.sched", *PRODUCT_INPUTS, "--repeat=5", "--warmup=2")
        match = re.fullmatch(re.escape(PRODUCT_RESULT) +
                             r"time_ms min=(\d+\.\d+) median=(\d+\.\d+) max=(\d+\.\d+) calls=5\n", printed)
        self.assertIsNotNone(match, printed)
        smallest, median, largest = map(float, match.groups())
        self.assertTrue(0 < smallest <= median <= largest)

    def test_trace_shows_prediction_and_measurement(self):
        text = self.ok("virtual_product.sched", *PRODUCT_INPUTS, "--trace=t.json", "--repeat=3")
        self.assertRegex(text, r"(?m)^makespan_ms predicted=[0-9.]+ measured=[0-9.]+( ratio=[0-9.]+)?$")
        trace = json.loads(self.read("t.json"))
        spans = [(event["name"], event["cat"]) for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(sorted(spans), [("back", "copy,measured"), ("back", "copy,predicted"),
                                         ("product", "launch,measured"), ("product", "launch,predicted")])
        measured = {event["name"]: event for event in trace["traceEvents"] if "measured" in event.get("cat", "")}
        self.assertLessEqual(measured["product"]["ts"] + measured["product"]["dur"], measured["back"]["ts"] + 0.001)
        self.assertIn("cannot write 'no/t.json'",
                      self.error("virtual_product.sched", *PRODUCT_INPUTS, "--trace=no/t.json"))

    def test_profile_holds_times_by_label_and_kind(self):
        self.ok("virtual_product.sched", *PRODUCT_INPUTS, "--repeat=3", "--profile=p.json")
        profile = json.loads(self.read("p.json"))
        self.assertEqual(profile["function"], "main")
        self.assertEqual(list(profile["tasks"]), ["product"])
        self.assertEqual(list(profile["tasks"]["product"]), ["virtual"])
        self.assertGreater(profile["tasks"]["product"]["virtual"], 0)

    def test_machine_is_described_with_measured_rates(self):
        text = self.described()
        machine = json.loads(text)
        cpu = machine["devices"][0]
        self.assertEqual((cpu["name"], cpu["kind"]), ("cpu0", "cpu"))
        self.assertGreater(cpu["peak_flops"]["f32"], 1e9)
        self.assertGreater(cpu["memory_bytes_per_s"], 1e8)
        self.write("machine.json", text.encode())
        self.assertEqual(self.ok("--describe_machine", "--machine=machine.json"), text)
        machine = json.loads(self.described("--machine=virtual:2"))
        self.assertEqual(len(machine["devices"]), 3)
        tabled = json.loads(self.ok("--describe-machine", "--machine=machine.json"))["devices"][0]
        for device in machine["devices"]:
            self.assertGreater(device["peak_flops"]["f32"], 1e9)
            self.assertNotEqual(device["peak_flops"]["f32"], 1e11)
            self.assertEqual(sorted(device["peak_flops"]), sorted(tabled["peak_flops"]))
        self.assertEqual(len(machine["links"]), 6)
        for link in machine["links"]:
            self.assertGreater(link["bytes_per_s"], 1e8)
            self.assertGreater(link["latency_ns"], 0)
        self.assertIn("is not a machine", self.error("--describe-machine", "--machine=virtual:0"))

    @unittest.skipUnless(FAKE_CUDA, "this build has no CUDA device")
    def test_gpus_are_described_with_measured_rates(self):
        library = f"--cuda-library={FAKE_CUDA}"
        env = {**os.environ, "AUTOPAR_FAKE_CUDA": "devices=2,memory_mb=777,arch=80,strict=9"}
        machine = json.loads(self.described("--machine=cuda:2", library, env=env))
        tabled = {"f32": 8e12, "f64": 2.5e11, "f16": 6e13, "i8": 1.2e14}
        self.assertEqual([device["name"] for device in machine["devices"]], ["cpu0", "gpu0", "gpu1"])
        for gpu in machine["devices"][1:]:
            self.assertEqual((gpu["kind"], gpu["arch"], gpu["memory_bytes"]), ("cuda", "sm_80", 777 << 20))
            self.assertEqual(sorted(gpu["peak_flops"]), sorted(tabled))
            self.assertNotEqual(gpu["peak_flops"]["f32"], tabled["f32"])
            self.assertEqual(gpu["peak_flops"]["f16"], tabled["f16"])
            self.assertNotEqual((gpu["launch_ns"], gpu["wait_ns"]), (2500, 1500))
        self.assertEqual(len(machine["links"]), 6)
        for link in machine["links"]:
            self.assertNotIn(link["bytes_per_s"], (0, 25000000000))
        self.assertIn("'gpu2' cannot be measured: CUDA finds 2 GPUs; give --machine=cuda:2",
                      self.error("--describe-machine", "--machine=cuda:3", library, env=env))


class CommandLine(RunTest):
    def test_version_and_help(self):
        self.assertRegex(self.ok("--version"), r"\Aautopar-run \d+\.\d+\.\d+\n\Z")
        self.assertIn("--expected-output", self.ok("--help"))

    def test_bad_flags_are_one_sentence(self):
        for arguments, sentence in [
            ([], "no program is given"),
            (["a.sched", "b.sched"], "b.sched"),
            (["product.sched", "--inptu=1"], "--inptu=1"),
            (["product.sched", "--repeat=0"], "--repeat: give 1 to"),
            (["product.sched", "--repeat=x"], "--repeat"),
            (["product.sched", "--repeat"], "--repeat"),
            (["product.sched", "--warmup=-1"], "--warmup: give 0 to"),
            (["product.sched", "--expected_rtol=-1"], "--expected-rtol: give 0 or more"),
            (["product.sched", "--expected_atol=nan"], "--expected-atol: give 0 or more"),
            (["product.sched", "--input="], "--input=: nothing stands behind the ="),
            (["product.sched", "--machine=host"], "planned for its machine already"),
            (["product.sched", "--describe-machine"], "runs no program"),
            (["product.sched", "--cuda_graph=maybe"], "'maybe' is not auto, on or off"),
            (["product.sched", "--parameters=w.safetensors"], "keeps no state"),
            (["product.sched", "--save_parameters=w.safetensors"], "keeps no state"),
        ]:
            self.assertIn(sentence, self.error(*arguments))

    def test_flags_that_change_nothing_here_are_taken(self):
        # A program that uses no GPU opens no library of CUDA's.
        for flag in ["--cuda-graph=off", "--cuda-graph=auto", "--cuda-library=/no/such/library.so"]:
            self.assertEqual(self.ok("product.sched", *PRODUCT_INPUTS, flag), PRODUCT_RESULT)
        for flag in ["--cuda-graph=on", "--tf32"]:
            done = self.run_tool("product.sched", *PRODUCT_INPUTS, flag)
            self.assertEqual((done.returncode, done.stdout), (0, PRODUCT_RESULT))
            self.assertEqual(done.stderr, f"note: {flag} has no effect: no device is a GPU\n")

    def test_an_underscore_in_a_value_stays(self):
        self.ok("product.sched", *PRODUCT_INPUTS, "--output=@under_score.npy")
        self.assertTrue(os.path.exists(self.path("under_score.npy")))

    def test_it_maps_neither_llvm_nor_mlir(self):
        libraries = subprocess.run(["ldd", AUTOPAR_RUN], capture_output=True, text=True, check=True).stdout
        self.assertIn("libautopar.so", libraries)
        self.assertNotRegex(libraries, "(?i)llvm|mlir")


class Simulating(RunTest):
    """The product is planned for 1000 ns on gpu0, of which 500 are the launch; then 16 bytes go to the host, which takes
    2002 ns on virtual:1, though the file predicts 1000."""

    def machine(self, **changes):
        gpu = {"name": "gpu0", "kind": "virtual", "launch_ns": 500, "streams": 1}
        link = {"from": "gpu0", "to": "cpu0", "bytes_per_s": 1000000000, "latency_ns": 4}
        for key, value in changes.items():
            (gpu if key in gpu else link)[key] = value
        text = json.dumps({"devices": [gpu, {"name": "cpu0", "kind": "cpu"}], "links": [link]})
        self.write("other.json", text.encode())
        return "--simulate=other.json"

    def test_the_schedules_own_machine(self):
        line = "simulated_makespan_ns=3002 predicted_makespan_ns=2000\n"
        self.assertEqual(self.ok("virtual_product.sched", "--simulate"), line)
        self.assertEqual(self.ok("--simulate", "virtual_product.sched"), line)
        self.assertEqual(self.ok("virtual_product.sched", "--simulate=virtual:1"), line)
        self.assertEqual(self.ok("virtual_product.sched", "--simulate=virtual:2", "--function=main"), line)
        self.assertEqual(self.ok("nothing.sched", "--simulate"), "simulated_makespan_ns=0 predicted_makespan_ns=0\n")

    def test_another_machine(self):
        self.assertEqual(self.ok("virtual_product.sched", self.machine()),
                         "simulated_makespan_ns=1020 predicted_makespan_ns=2000\n")
        self.assertEqual(self.ok("virtual_product.sched", self.machine(launch_ns=0, bytes_per_s=100000000)),
                         "simulated_makespan_ns=664 predicted_makespan_ns=2000\n")

    def test_a_machine_that_does_not_fit_is_refused(self):
        self.assertEqual(self.error("virtual_product.sched", "--simulate=host"),
                         "--simulate: the schedule uses the device 'gpu0', which the machine does not have; its devices "
                         "are cpu0")
        self.machine(name="gpu1")
        self.assertIn("links[0].from", self.error("virtual_product.sched", "--simulate=other.json"))
        self.assertIn("cannot open 'no.json'", self.error("virtual_product.sched", "--simulate=no.json"))

    def test_flags_of_a_run_are_refused(self):
        for flag in ["--input=2x3xf32", "--output=-", "--expected_output=(ignored)", "--device=gpu0=virtual:0",
                     "--repeat=3", "--warmup=1", "--trace=t.json", "--profile=p.json", "--dump", "--poison",
                     "--delay_seed=1"]:
            name = flag.split("=")[0].replace("_", "-")
            self.assertEqual(self.error("virtual_product.sched", "--simulate", flag),
                             f"--simulate runs nothing; leave {name} out, or --simulate")
        self.assertIn("--describe-machine", self.error("--simulate", "--describe-machine"))


class Compiling(RunTest):
    """A .mlir program is compiled by the autopar-opt that lies beside autopar-run: here a script that plays it."""

    def setUp(self):
        super().setUp()
        self.tools = tempfile.mkdtemp(dir=self.folder)
        self.temporary = tempfile.mkdtemp(dir=self.folder)
        self.tool = os.path.join(self.tools, "autopar-run")
        shutil.copy(AUTOPAR_RUN, self.tool)
        self.write("p.mlir", b"a program")
        self.environment = dict(os.environ, TMPDIR=self.temporary)

    def tearDown(self):
        self.assertEqual(os.listdir(self.temporary), [], "temporary files are removed")

    def play_compiler(self, script):
        path = os.path.join(self.tools, "autopar-opt")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, stat.S_IRWXU)

    def options(self):
        return {"tool": self.tool, "env": self.environment}

    def test_program_is_compiled_and_run(self):
        self.play_compiler(f'test "$1 $2" = "p.mlir -o" && test $# = 3 && cp {self.path("product.sched")} "$3"')
        self.assertEqual(self.ok("p.mlir", *PRODUCT_INPUTS, **self.options()), PRODUCT_RESULT)

    def test_machine_is_passed_on(self):
        self.play_compiler(f'test "$4" = "--machine=virtual:1" && cp {self.path("virtual_product.sched")} "$3"')
        self.assertEqual(self.ok("p.mlir", *PRODUCT_INPUTS, "--machine=virtual:1", **self.options()), PRODUCT_RESULT)

    def test_diagnostics_come_through(self):
        self.play_compiler("echo 'p.mlir:1:1: error: unknown op'; exit 1")
        done = self.run_tool("p.mlir", **self.options())
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "p.mlir:1:1: error: unknown op\nautopar-run: error: 'p.mlir' was not compiled; "
                                      "autopar-opt says above why\n")

    def test_a_compiler_that_dies_is_reported(self):
        self.play_compiler("kill -SEGV $$")
        self.assertEqual(self.error("p.mlir", **self.options()),
                         "autopar-opt died of signal 11 (Segmentation fault) on 'p.mlir'")

    def test_a_compiler_that_writes_nothing_is_reported(self):
        self.play_compiler("exit 0")
        self.error("p.mlir", **self.options())

    def test_missing_compiler_and_program(self):
        self.assertIn("there is no '" + self.tools + "/autopar-opt'; compile it elsewhere",
                      self.error("p.mlir", **self.options()))
        self.assertEqual(self.error("none.mlir", **self.options()),
                         "cannot open 'none.mlir': no such file or folder")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
