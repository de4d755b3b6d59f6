"""Checks that parsing, verifying, canonicalizing and printing grow linearly: many_ops.py AUTOPAR_OPT PREFIX."""
import os
import subprocess
import sys


def write(path, count):
    with open(path, "w", encoding="utf-8") as file:
        file.write("func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n")
        previous = "%x"
        for i in range(0, count, 4):
            file.write(
                f'  %{i} = "autopar.synthetic_task"({previous}) {{label = "s{i}", cost_ns = {{cpu = {i}.0}}}} : '
                f"(tensor<8xf32>) -> tensor<8xf32>\n"
                f"  %{i + 1} = autopar.task(%a = %{i}) \"t{i}\" : (tensor<8xf32>) -> tensor<8xf32> {{\n"
                f"    %b = autopar.exp %a : tensor<8xf32>\n    autopar.yield %b : tensor<8xf32>\n  }}\n"
                f"  %{i + 2} = autopar.add %{i}, %{i + 1} : tensor<8xf32>\n"
                f"  %{i + 3} = autopar.mul %{i + 2}, %x : tensor<8xf32>\n")
            previous = f"%{i + 3}"
        file.write(f"  return {previous} : tensor<8xf32>\n}}\n")


def processor_seconds(tool, path):
    """The best of two, in processor time: other load on the machine does not count."""
    best = float("inf")
    for _ in range(2):
        process = subprocess.Popen([tool, path, "--canonicalize", "--cse", "--mlir-disable-threading", "-o", "/dev/null"])
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{tool} failed on {path}")
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def main():
    tool, prefix = sys.argv[1:]
    seconds = []
    for count in (25_000, 100_000):
        path = f"{prefix}.{count}.mlir"
        write(path, count)
        seconds.append(processor_seconds(tool, path))
    print(f"25,000: {seconds[0]:.2f} s, 100,000: {seconds[1]:.2f} s")
    if seconds[1] > 8 * seconds[0] + 0.5 or seconds[1] > 60:
        sys.exit("grows faster than linearly")


if __name__ == "__main__":
    main()
