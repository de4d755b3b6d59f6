"""Writes a program of N ops: make_many.py chain|results|same|concat|shared N"""
import sys

TYPE = "tensor<8x8xf32>"


def chain(n):
    yield f"func.func @main(%x: {TYPE}) -> {TYPE} {{"
    for i in range(n):
        yield f"  %{i} = autopar.add {'%' + str(i - 1) if i else '%x'}, %x : {TYPE}"
    yield f"  return %{n - 1} : {TYPE}\n}}"


def users_of_one(n):
    yield f"  %0 = autopar.exp %x : {TYPE}"
    for i in range(1, n + 1):
        yield f"  %{i} = autopar.mul %0, %x : {TYPE}"


def results(n):
    types = ", ".join([TYPE] * n)
    yield f"func.func @main(%x: {TYPE}) -> ({types}) {{"
    yield from users_of_one(n)
    yield f"  return {', '.join(f'%{i}' for i in range(1, n + 1))} : {types}\n}}"


def same(n):
    types = ", ".join([TYPE] * n)
    yield f"func.func @main(%x: {TYPE}) -> ({types}) {{\n  %0 = autopar.exp %x : {TYPE}"
    yield f"  return {', '.join(['%0'] * n)} : {types}\n}}"


def concat(n):
    types, result = ", ".join([TYPE] * n), f"tensor<{8 * n}x8xf32>"
    yield f"func.func @main(%x: {TYPE}) -> {result} {{"
    yield from users_of_one(n)
    yield f"  %r = autopar.concat {', '.join(f'%{i}' for i in range(1, n + 1))} axis = 0 : ({types}) -> {result}"
    yield f"  return %r : {result}\n}}"


def shared(n):
    types = ", ".join([TYPE] * n)
    yield f"func.func @main(%x: {TYPE}, %v: tensor<8xf32>) -> ({types}) {{"
    yield f"  %c = autopar.constant dense<2.0> : {TYPE}"
    yield f"  %b = autopar.broadcast %v dims = [1] : tensor<8xf32> -> {TYPE}"
    for i in range(n):
        yield f"  %s{i} = autopar.mul %x, %c : {TYPE}"
        yield f"  %{i} = autopar.add %s{i}, %b : {TYPE}"
    yield f"  return {', '.join(f'%{i}' for i in range(n))} : {types}\n}}"


if __name__ == "__main__":
    shapes = {"chain": chain, "results": results, "same": same, "concat": concat, "shared": shared}
    sys.stdout.write("\n".join(shapes[sys.argv[1]](int(sys.argv[2]))) + "\n")
