"""What the tests of code for GPUs share: compiling a program's kernels, and taking the printed module apart."""
import math
import re
import subprocess


class Failure(Exception):
    pass


def call(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(str(w) for w in command)}\n  exit status {done.returncode}: {done.stderr.strip()[:2000]}")
    return done.stdout


def unescape(text):
    """The bytes of a string attribute as MLIR prints it."""
    named = {"n": 10, "t": 9, '"': 34, "\\": 92}
    parts = re.split(r'\\([nt"\\]|[0-9A-Fa-f]{2})', text)
    out = bytearray(parts[0].encode())
    for escape, plain in zip(parts[1::2], parts[2::2]):
        out.append(named[escape] if escape in named else int(escape, 16))
        out += plain.encode()
    return bytes(out)


class Kernel:
    def __init__(self, match):
        self.form, self.name, self.tiles = match["form"], match["name"], int(match["tiles"])
        self.has_code = self.tiles > 0 if self.form == "native" else bool(match["epilogue"])
        reads = [int(x) for x in match["reads"].split(",") if x.strip()]
        self.columns = int(re.search(r"\bn = (\d+)", match["product"])[1]) if match["product"] else 0
        arguments = re.findall(r"tensor<([^>]*)>", match["arguments"] or "")
        self.reads = [tensor(arguments[k]) for k in reads]
        self.results = [tensor(t) for t in re.findall(r"tensor<([^>]*)>", match["results"])]


def tensor(text):
    """(element, shape) of "2x3xf32"."""
    *sizes, element = text.split("x")
    return element, tuple(int(s) for s in sizes)


def elements(shape):
    return math.prod(shape)


KERNEL = re.compile(
    r"autopar\.kernel +(?P<form>\w+) @(?P<name>[\w$]+) tiles = (?P<tiles>\d+) scratch = \d+ reads = \[(?P<reads>[^\]]*)\]"
    r"(?: product = <(?P<product>[^>]*)>)?(?P<epilogue> epilogue)?[^\n]*\{\n(?:\s*\^bb0\((?P<arguments>[^\n]*)\):\n)?.*?autopar\.yield [^\n]*? : (?P<results>[^\n]*)\n", re.S)
BINARY = re.compile(r'autopar\.binary +@\w+ target = "([^"]*)" features = \[([^\]]*)\](?: launches = \{([^}]*)\})? '
                    r'image = "((?:[^"\\]|\\.)*)"')


class Program:
    """The kernels of a program and their code: for a CPU, and for GPUs of `arch`."""

    def __init__(self, opt, path, arch, *flags):
        tasks = call([opt, path, "--stop-after=tasks", "--ignore-pins", *flags])
        done = subprocess.run([str(opt), "--autopar-outline-kernels",
                               f"--autopar-compile-kernels=target-cpu=x86-64-v3 gpu-arch={arch}"],
                              input=tasks, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{path} for {arch}: exit status {done.returncode}: {done.stderr.strip()[:2000]}")
        self.kernels = [Kernel(m) for m in KERNEL.finditer(done.stdout)]
        self.elf, self.ptx, self.launches = b"", [], []
        for target, features, launches, image in BINARY.findall(done.stdout):
            if not launches:
                self.elf = unescape(image)
                continue
            text = unescape(image)
            if target != arch:
                raise Failure(f"{path}: code for {target}, not {arch}")
            if not text.endswith(b"\0") or text.count(b"\0") != 1:
                raise Failure(f"{path}: PTX that does not end with its only zero byte")
            self.ptx.append(text[:-1].decode())
            self.launches.append({name: (int(grid), int(block)) for name, grid, block in
                                  re.findall(r"([\w$]+) = array<i64: (\d+), (\d+)>", launches)})
