#!/usr/bin/env python3
"""Writes a program of many tasks to standard output, to see how compile time and memory grow.

    generate_graphs.py chain|fan-out|layered synthetic|tensors TASKS [--seed=1]

chain     every task waits for the one before
fan-out   one task, then all others side by side, then everything is summed up
layered   layers of 100 tasks, each reads one to three results of the layer before, chosen at random

synthetic autopar.synthetic_task with random costs
tensors   small matrix products, each with one of 112 different epilogues, so that as many different kernels are compiled

The same arguments give the same program.
"""
import argparse
import math
import random
import sys

WIDTH = 100
TYPE = "tensor<16x16xf32>"
# 14 times 8 epilogues; values stay bounded, so that a long chain ends in numbers.
UNARY = ["neg", "abs", "relu", "tanh", "sigmoid", "sin", "cos", "erf", "sign", "floor", "ceil", "exp", "sqrt", "rsqrt"]
UNARY_INPUT = {"exp": "sin", "sqrt": "sigmoid", "rsqrt": "sigmoid", "floor": "tanh", "ceil": "tanh", "neg": "sin",
               "abs": "cos", "relu": "sin"}
BINARY = [("add", 0.25), ("sub", 0.5), ("mul", 0.5), ("max", 0.125), ("min", 0.75), ("div", 4.0), ("add", -0.5),
          ("mul", -0.25)]


class Synthetic:
    """One task is one autopar.synthetic_task."""

    def __init__(self, random_source, out, tasks):
        self.random, self.out, self.count = random_source, out, 0
        self.type = "tensor<64xi8>"

    def task(self, operands):
        name = f"%{self.count}"
        cost = self.random.randrange(1000, 100000)
        types = ", ".join([self.type] * len(operands))
        self.out.append(f'  {name} = "autopar.synthetic_task"({", ".join(operands)}) {{label = "t{self.count}", '
                        f"cost_ns = {{cpu = {cost}.0, virtual = {cost // 2}.0, cuda = {cost // 4}.0}}}} "
                        f": ({types}) -> {self.type}")
        self.count += 1
        return name

    def join(self, values):
        return self.task(values)


class Tensors:
    """One task is a matrix product with an epilogue. No two products have the same factors: equal work would be merged."""

    def __init__(self, random_source, out, tasks):
        self.random, self.out, self.count = random_source, out, 0
        self.type = TYPE
        self.shared = None  # an operand of more tasks than there are weights: it is added, not multiplied
        self.weights = max(WIDTH, math.isqrt(tasks) + 1)
        for i in range(self.weights):
            out.append(f"  %w{i} = autopar.random_uniform seed = {i} : {TYPE}")

    def op(self, mnemonic, operands):
        self.out.append(f"  %v{len(self.out)} = autopar.{mnemonic} {', '.join(operands)} : {self.type}")
        return f"%v{len(self.out) - 1}"

    def task(self, operands):
        weight = f"%w{self.count % self.weights}"
        if operands[0] == self.shared:
            factors, others = [f"%w{self.count // self.weights}", weight], operands
        else:
            factors, others = [operands[0], weight], operands[1:]
        value = f"%m{self.count}"
        self.out.append(f"  {value} = autopar.matmul {factors[0]}, {factors[1]} : {TYPE}, {TYPE} -> {TYPE}")
        unary = UNARY[self.count % len(UNARY)]
        if unary in UNARY_INPUT:
            value = self.op(UNARY_INPUT[unary], [value])
        value = self.op(unary, [value])
        binary, constant = BINARY[self.count // len(UNARY) % len(BINARY)]
        self.out.append(f"  %c{self.count} = autopar.constant dense<{constant}> : {TYPE}")
        value = self.op(binary, [value, f"%c{self.count}"])
        for operand in others:
            value = self.op("add", [value, operand])
        self.count += 1
        return value

    def join(self, values):
        while len(values) > 1:
            pairs = [self.op("add", values[i:i + 2]) for i in range(0, len(values) - 1, 2)]
            values = pairs + values[2 * len(pairs):]
        return values[0]


def chain(maker, tasks):
    value = "%x"
    for _ in range(tasks):
        value = maker.task([value])
    return value


def fan_out(maker, tasks):
    source = maker.shared = maker.task(["%x"])
    return maker.join([maker.task([source]) for _ in range(tasks - 2)])


def layered(maker, tasks):
    """Every value has a user: what nobody uses would be removed."""
    last = ["%x"]
    for start in range(0, tasks, WIDTH):
        width = min(WIDTH, tasks - start)
        maker.random.shuffle(last)
        layer = []
        for i in range(width):
            first = last[i % len(last)]
            others = maker.random.sample(last, min(len(last), maker.random.randint(0, 2)))
            layer.append(maker.task([first] + [value for value in others if value != first]))
        last = layer + last[width:]
    return maker.join(last)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=["chain", "fan-out", "layered"])
    parser.add_argument("kind", choices=["synthetic", "tensors"])
    parser.add_argument("tasks", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.tasks < 3:
        parser.error(f"needs at least 3 tasks, got {arguments.tasks}")
    body = []
    maker = (Synthetic if arguments.kind == "synthetic" else Tensors)(random.Random(arguments.seed), body, arguments.tasks)
    result = {"chain": chain, "fan-out": fan_out, "layered": layered}[arguments.shape](maker, arguments.tasks)
    sys.stdout.write(f"func.func @main(%x: {maker.type}) -> {maker.type} {{\n" + "\n".join(body) +
                     f"\n  return {result} : {maker.type}\n}}\n")


if __name__ == "__main__":
    main()
