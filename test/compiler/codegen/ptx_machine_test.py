#!/usr/bin/env python3
"""The machine that runs PTX finds each planted fault, and rounds as PTX says."""
import fractions
import sys
import unittest

import numpy as np

from ptx_machine import Fault, Module, fma32, launch

HEAD = ".version 7.5\n.target sm_75\n.address_size 64\n"


def run(body, buffers, read_count, grid=1, block=64, globals_="", at_once=512):
    params = ",\n".join(f"\t.param .u64 .ptr .align 16 k_param_{n}" for n in range(len(buffers)))
    loads = "\n".join(f"\tld.param.b64 %rd{n}, [k_param_{n}];" for n in range(len(buffers)))
    text = (f"{HEAD}{globals_}\n.visible .entry k(\n{params}\n)\n.reqntid {block}\n{{\n\t.reg .b32 %r<9>;\n{loads}\n"
            f"\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd8, %r1, 4;\n{body}\n\tret;\n}}\n")
    return launch(Module(text), "k", buffers, read_count, grid, at_once)


def words(count, first=0):
    return np.arange(first, first + count, dtype=np.uint32).view(np.uint8).copy()


SHARED = ".shared .align 16 .b8 s[256];"
TO_SHARED = "\tcvt.u64.u32 %rd5, %r1;\n\tmov.b64 %rd6, s;\n\tadd.s64 %rd7, %rd6, %rd8;\n\tst.shared.b32 [%rd7], %r1;\n"


class PtxMachine(unittest.TestCase):
    def refused(self, words_of_fault, *args, **kwargs):
        with self.assertRaisesRegex(Fault, words_of_fault):
            run(*args, **kwargs)

    def test_copy_is_accepted(self):
        source, target = words(64), words(64, 100)
        written = run("\tadd.s64 %rd4, %rd0, %rd8;\n\tld.global.nc.b32 %r2, [%rd4];\n\tadd.s64 %rd5, %rd1, %rd8;\n"
                      "\tst.global.b32 [%rd5], %r2;", [source, target], 1)
        self.assertTrue(written[0].all())
        np.testing.assert_array_equal(source, target)

    def test_bounds_alignment_and_roles(self):
        load = "\tadd.s64 %rd4, %rd0, %rd8;\n"
        self.refused("4 bytes at 256 of buffer 0", load + "\tld.global.b32 %r2, [%rd4+4];", [words(64), words(1)], 1)
        self.refused("not aligned", load + "\tld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd4];", [words(999), words(1)], 1)
        self.refused("only read", load + "\tst.global.b32 [%rd4], %r1;", [words(64), words(1)], 1)
        self.refused("not an address", "\tld.global.b32 %r2, [%rd8];", [words(64)], 1)

    def test_races_in_global_memory(self):
        self.refused("two threads write", "\tst.global.b32 [%rd0], %r1;", [words(64)], 0)
        own = "\tadd.s64 %rd4, %rd0, %rd8;\n\tst.global.b32 [%rd4], %r1;\n"
        self.refused("another thread wrote this", own + "\tld.global.b32 %r2, [%rd0];", [words(64)], 0)
        self.refused("another thread read this", "\tld.global.b32 %r2, [%rd0];\n" + own, [words(64)], 0)
        self.refused("two threads write", own, [words(64)], 0, grid=2)
        self.refused("two blocks write", own, [words(64)], 0, grid=2, at_once=1)

    def test_shared_memory_needs_barriers(self):
        other = "\txor.b32 %r3, %r1, 1;\n\tmul.wide.u32 %rd4, %r3, 4;\n\tadd.s64 %rd4, %rd6, %rd4;\n"
        self.refused("nobody wrote", "\tmov.b64 %rd6, s;\n\tld.shared.b32 %r2, [%rd6];", [], 0, globals_=SHARED)
        self.refused("since the last barrier", TO_SHARED + other + "\tld.shared.b32 %r2, [%rd4];", [], 0, globals_=SHARED)
        run(TO_SHARED + "\tbar.sync 0;\n" + other + "\tld.shared.b32 %r2, [%rd4];", [], 0, globals_=SHARED)
        self.refused("another thread read this", TO_SHARED + "\tbar.sync 0;\n" + other + "\tld.shared.b32 %r2, [%rd4];\n"
                     "\tst.shared.b32 [%rd7], %r2;", [], 0, globals_=SHARED)

    def test_barriers_and_shuffles_need_everybody(self):
        some = "\tsetp.lt.u32 %p1, %r1, 9;\n\t@%p1 bra $L;\n"
        self.refused("left before a barrier", some + "\tbar.sync 0;\n$L:", [], 0)
        shuffle = "\tshfl.sync.down.b32 %r2, %r1, 1, 31, -1;\n"
        self.refused("not all threads of its mask", some + shuffle + "$L:", [], 0)
        run(shuffle, [], 0)

    def test_what_code_must_not_hold(self):
        self.refused("no instruction", "\tatom.global.add.f32 %r2, [%rd0], %r1;", [words(64)], 0)
        self.refused("does not say how it rounds", "\tadd.f32 %r2, %r1, %r1;", [], 0)
        self.refused("approximate", "\tsqrt.approx.f32 %r2, %r1;", [], 0)
        self.refused("before it is written", "\tadd.s32 %r2, %r7, %r1;", [], 0)

    def test_fma_rounds_once(self):
        random = np.random.default_rng(1)
        bits = random.integers(0, 2**32, (3, 20000), dtype=np.uint64).astype(np.uint32)
        a, b, c = (np.where((x >> 23) & 255 == 255, x & 0x807FFFFF, x).astype(np.uint32).view(np.float32) for x in bits)
        # Products near a tie of the sum, where rounding twice shows.
        a[:5000] = 1 + np.arange(5000, dtype=np.float32) * np.float32(2**-23)
        b[:5000], c[:5000] = np.float32(1 + 2**-12), np.float32(2.0**-60)
        with np.errstate(all="ignore"):
            result = fma32(a, b, c)
        wrong = 0
        for x, y, z, r in zip(*(v.tolist() for v in (a, b, c, result))):
            exact = fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z)
            if np.isfinite(r):
                near = [np.nextafter(np.float32(r), np.float32(s), dtype=np.float32) for s in (-np.inf, np.inf)]
                distance = abs(exact - fractions.Fraction(r))
                wrong += any(np.isfinite(n) and abs(exact - fractions.Fraction(float(n))) < distance for n in near)
            else:
                wrong += abs(exact) < fractions.Fraction(2**128 - 2**103)
        self.assertEqual(wrong, 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
