"""Writes one function per seed from FIRST to LAST, of random tensor ops: random_programs.py FIRST LAST"""
import math
import random
import sys

SMALL, LARGE = [1, 2, 3, 4, 6, 8, 12], [1, 16, 64, 128, 96]


def tensor(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dims = LARGE if self.random.random() < 0.4 else SMALL
        self.lines = []
        self.values = [(f"%a{i}", tuple(self.random.choices(self.dims, k=self.random.randint(0, 3))))
                       for i in range(self.random.randint(1, 4))]
        self.arguments = list(self.values)

    def add(self, text, shape):
        if math.prod(shape) > 10**7 or len(shape) > 5:
            return
        self.lines.append(f"%v{len(self.lines)} = autopar.{text}")
        self.values.append((f"%v{len(self.lines) - 1}", tuple(shape)))

    def step(self):
        choose = self.random
        value, shape = choose.choice(self.values[-8:] if choose.random() < 0.7 else self.values)
        like = choose.choice([name for name, other in self.values if other == shape])
        makers = [self.binary] * 6 + [self.unary] * 3 + [self.constant, self.iota, self.broadcast, self.broadcast,
                                                          self.reshape, self.reshape, self.transpose, self.slice,
                                                          self.reduce, self.matmul, self.softmax, self.concat]
        choose.choice(makers)(value, shape, like)

    def binary(self, value, shape, like):
        op = self.random.choice(["add", "mul", "sub", "max", "div"])
        self.add(f"{op} {value}, {like} : {tensor(shape)}", shape)

    def unary(self, value, shape, like):
        self.add(f"{self.random.choice(['exp', 'neg', 'tanh', 'relu', 'sqrt'])} {value} : {tensor(shape)}", shape)

    def constant(self, value, shape, like):
        self.add(f"constant dense<{self.random.random():.3f}> : {tensor(shape)}", shape)

    def iota(self, value, shape, like):
        if shape:
            self.add(f"iota axis = {self.random.randrange(len(shape))} : {tensor(shape)}", shape)

    def broadcast(self, value, shape, like):
        rank = len(shape) + self.random.randint(0, 2)
        dims = sorted(self.random.sample(range(rank), len(shape)))
        result = self.random.choices(self.dims[:4], k=rank)
        for dim, size in zip(dims, shape):
            result[dim] = size if size != 1 or self.random.random() < 0.5 else self.random.choice(self.dims)
        self.add(f"broadcast {value} dims = {dims} : {tensor(shape)} -> {tensor(result)}", result)

    def reshape(self, value, shape, like):
        count, result = math.prod(shape), []
        while count > 1 and len(result) < 3:
            result.append(self.random.choice([size for size in range(2, 17) if count % size == 0] or [count]))
            count //= result[-1]
        result += [count] if count > 1 else []
        if self.random.random() < 0.3:
            result.insert(self.random.randint(0, len(result)), 1)
        self.add(f"reshape {value} : {tensor(shape)} -> {tensor(result)}", result)

    def transpose(self, value, shape, like):
        if not shape:
            return
        permutation = self.random.sample(range(len(shape)), len(shape))
        result = [shape[dim] for dim in permutation]
        self.add(f"transpose {value} permutation = {permutation} : {tensor(shape)} -> {tensor(result)}", result)

    def slice(self, value, shape, like):
        if not shape:
            return
        offsets = [self.random.randrange(size) for size in shape]
        strides = [self.random.randint(1, 2) for _ in shape]
        result = [self.random.randint(1, (size - offset + stride - 1) // stride)
                  for size, offset, stride in zip(shape, offsets, strides)]
        self.add(f"slice {value} offsets = {offsets} strides = {strides} : {tensor(shape)} -> {tensor(result)}", result)

    def reduce(self, value, shape, like):
        if not shape:
            return
        axes = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        result = [size for dim, size in enumerate(shape) if dim not in axes]
        kind = self.random.choice(["sum", "max"])
        self.add(f"reduce {kind} {value} axes = {axes} : {tensor(shape)} -> {tensor(result)}", result)

    def matmul(self, value, shape, like):
        if len(shape) < 2:
            return
        right = shape[:-2] + (shape[-1], self.random.choice(self.dims))
        count = len(self.lines)
        self.add(self.random.choice([f"random_uniform seed = {count} : {tensor(right)}",
                                     f"constant dense<0.5> : {tensor(right)}"]), right)
        if len(self.lines) > count:
            result = shape[:-1] + right[-1:]
            self.add(f"matmul {value}, %v{count} : {tensor(shape)}, {tensor(right)} -> {tensor(result)}", result)

    def softmax(self, value, shape, like):
        if shape:
            self.add(f"softmax {value} axis = {self.random.randrange(len(shape))} : {tensor(shape)}", shape)

    def concat(self, value, shape, like):
        if shape:
            axis = self.random.randrange(len(shape))
            result = list(shape)
            result[axis] *= 2
            self.add(f"concat {value}, {like} axis = {axis} : ({tensor(shape)}, {tensor(shape)}) -> {tensor(result)}",
                     result)


def write(seed):
    program = Program(seed)
    for _ in range(program.random.randint(3, 60)):
        program.step()
    results = [program.values[-1]] + program.random.sample(program.values, program.random.randint(0, 2) %
                                                           len(program.values))
    arguments = ", ".join(f"{name}: {tensor(shape)}" for name, shape in program.arguments)
    types = ", ".join(tensor(shape) for _, shape in results)
    print(f"func.func @seed_{seed}({arguments}) -> ({types}) {{")
    print("\n".join("  " + line for line in program.lines))
    print(f"  return {', '.join(name for name, _ in results)} : {types}\n}}")


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2]) + 1):
        write(number)
