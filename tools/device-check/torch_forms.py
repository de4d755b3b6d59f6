#!/usr/bin/env python3
"""Products on a GPU and copies of their results to the host, as PyTorch users write them: plainly, as the book chapter does,
and with everything by hand. One JSON object of milliseconds: per form the first call and the median of those after it.

    torch_forms.py SIZE PRODUCTS
"""
import json
import statistics
import sys
import time

import torch

CALLS = 8


def timed(form):
    times = []
    for _ in range(CALLS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        kept = form()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
        del kept  # as a loop does: PyTorch may use the memory again
    return {"first": times[0], "median": statistics.median(times[1:])}


class Forms:
    def __init__(self, size, products):
        torch.backends.cuda.matmul.allow_tf32 = False
        generator = torch.Generator(device="cuda").manual_seed(1)
        self.operands = [torch.rand(size, size, device="cuda", generator=generator) for _ in range(products)]
        self.results = [torch.empty_like(operand) for operand in self.operands]
        self.copies = torch.cuda.Stream()
        self.done = [torch.cuda.Event() for _ in range(products)]
        self.pinned = None
        self.run()  # loads the library and the kernels; no copy yet

    def run(self):
        return [operand @ operand for operand in self.operands]

    def copy(self, blocking=True):
        return [operand.to("cpu", non_blocking=not blocking) for operand in self.operands]

    def run_and_copy(self, blocking=True):
        return [result.to("cpu", non_blocking=not blocking) for result in self.run()]

    def pin(self):
        if self.pinned is None:
            self.pinned = [torch.empty(operand.shape, pin_memory=True) for operand in self.operands]

    def by_hand(self):
        """Results and pinned targets are used again; a stream for the copies, an event for each product."""
        self.pin()
        products = torch.cuda.current_stream()
        products.wait_stream(self.copies)
        for operand, result, target, done in zip(self.operands, self.results, self.pinned, self.done):
            torch.mm(operand, operand, out=result)
            done.record(products)
            self.copies.wait_event(done)
            with torch.cuda.stream(self.copies):
                target.copy_(result, non_blocking=True)
        products.wait_stream(self.copies)


def main():
    forms = Forms(int(sys.argv[1]), int(sys.argv[2]))
    table = {
        "run": timed(forms.run),
        "copy": timed(forms.copy),
        "run and copy": timed(forms.run_and_copy),
        "run and copy, non_blocking (the book's)": timed(lambda: forms.run_and_copy(blocking=False)),
        "run and copy, by hand": timed(forms.by_hand),
    }
    json.dump(table, sys.stdout)


if __name__ == "__main__":
    main()
