"""tools/device-check.sh without a GPU: packed with few programs and small sizes, run on the library that imitates CUDA.
   device_check_test.py BUILD FAKE_CUDA"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, FAKE_CUDA = pathlib.Path(sys.argv[1]), sys.argv[2]
PREPARE = pathlib.Path(__file__).resolve().parents[3] / "tools" / "device-check" / "prepare.py"
STEPS = ["environment", "programs", "machine", "launches and graphs", "the book's experiment", "compute-sanitizer"]


class DeviceCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="device_check_test.")
        cls.packed = pathlib.Path(cls.temporary.name) / "packed"
        subprocess.run([sys.executable, PREPARE, "--build", BUILD, cls.packed, "--size=48", "--products=3", "--nodes", "1", "7",
                        "--only", "every_op", "two_devices"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check(self, out, fake):
        environment = {**os.environ, "AUTOPAR_CUDA_LIBRARY": FAKE_CUDA, "AUTOPAR_FAKE_CUDA": fake, "PYTHON": sys.executable}
        done = subprocess.run([self.packed / "device-check.sh", self.packed / out], env=environment, capture_output=True,
                              text=True)
        return done, json.loads((self.packed / out / "results.json").read_text())

    def test_all_is_right_on_a_device_that_works(self):
        done, results = self.check("right", "strict=9")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all results are right", done.stdout)
        self.assertEqual(list(results["seconds"]), STEPS)
        self.assertEqual(sorted(results["programs"]), ["every_op", "two_devices"])
        for rows in results["programs"].values():
            self.assertEqual(len(rows), 1 + 4 * 2)  # numpy's; four plans, as launches and as a graph
            self.assertEqual({value for title, value in rows.items() if title != "numpy"}, {"same bits"})
        self.assertEqual([device["name"] for device in results["machine"]["devices"]], ["cpu0", "gpu0"])
        self.assertEqual(len(results["launches and graphs"]), 2 * 2 * 2)
        for row in results["the book's experiment"]["autopar"]:
            self.assertEqual(sorted(row), ["copy", "run", "run and copy", "run and copy / longer"])

    def test_a_kernel_that_fails_is_told_and_the_other_steps_run(self):
        done, results = self.check("fault", "kernel_fault=20")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(list(results["seconds"]), STEPS)
        self.assertTrue(any(failure.startswith("every_op, ") for failure in results["failures"]), results["failures"])
        self.assertIn("\nFAILED every_op, ", done.stdout)

    def test_a_missing_wait_is_told(self):
        done, results = self.check("wait", "drop_wait=1,strict=9")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(results["failures"])

    def test_a_machine_without_a_gpu_is_told(self):
        done, results = self.check("none", "devices=0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the NVIDIA driver finds no GPU", results["failures"][0])
        self.assertNotIn("virtual:0", done.stdout)
        self.assertEqual(list(results["seconds"]), ["environment"])

    def test_python_without_numpy_is_a_sentence(self):
        # A numpy that is found first and cannot be imported stands for none.
        hidden = pathlib.Path(self.temporary.name) / "hidden"
        hidden.mkdir()
        (hidden / "numpy.py").write_text("raise ModuleNotFoundError('there is none', name='numpy')\n")
        environment = {**os.environ, "PYTHONPATH": str(hidden), "PYTHON": sys.executable}
        for command in ([self.packed / "device-check.sh", self.packed / "no_numpy"],
                        [sys.executable, PREPARE, "--build", BUILD, self.packed / "no_numpy"]):
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"\Adevice-check: error: \S+ has no numpy, [^\n]+\n\Z")
            self.assertFalse((self.packed / "no_numpy").exists())

    def test_the_folder_explains_itself(self):
        text = (self.packed / "README.txt").read_text()
        self.assertIn("./device-check.sh [OUT]", text)
        self.assertNotIn("{", text)

    def test_odd_arguments_are_refused_and_leave_nothing(self):
        file = self.packed / "manifest.json"
        new = self.packed.parent / "new"
        for arguments, sentence in [
            ([self.packed], "is no empty folder; give a new one"),
            ([file], "is no empty folder; give a new one"),
            ([new, "--only", "nosuch"], "invalid choice: 'nosuch'"),
            ([new, "--size=-5"], "'-5' is not a whole number from 1"),
            ([new, "--products=0"], "'0' is not a whole number from 1"),
            ([new, "--nodes", "1", "x"], "'x' is not a whole number from 1"),
        ]:
            done = subprocess.run([sys.executable, PREPARE, "--build", BUILD, *arguments], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(sentence, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertFalse(new.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
