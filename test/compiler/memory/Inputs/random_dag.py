"""A random graph of COUNT synthetic tasks, each reading up to three of the WINDOW tasks before it: random_dag.py COUNT WINDOW SEED"""
import random
import sys

count, window, seed = (int(word) for word in sys.argv[1:])
choose = random.Random(seed)
T = "tensor<64xi8>"
print(f"func.func @main() -> {T} {{")
for task in range(count):
    inputs = [f"%v{choose.randrange(max(0, task - window), task)}" for _ in range(choose.randint(0, 3) if task else 0)]
    print(f'%v{task} = autopar.synthetic_task({", ".join(inputs)}) {{label = "t", occupancy = {{virtual = 0.3}}, '
          f'cost_ns = {{cpu = 1000.0, virtual = 500.0}}}} : ({", ".join([T] * len(inputs))}) -> {T}')
print(f"return %v{count - 1} : {T}\n}}")
