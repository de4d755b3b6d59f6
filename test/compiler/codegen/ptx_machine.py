"""Runs PTX without a GPU: a machine for the subset that the compiler writes, strict where a GPU is not.

All threads of some blocks run side by side on numpy arrays; among the threads that can go on, those with the least program
counter do. It refuses

- an access outside of its buffer, or not aligned to its size (vectors: to the whole vector);
- a write to a buffer that is only read, a byte that two threads write or that one writes and another reads, in global memory;
- in shared memory the same between two barriers, and a read of what nobody wrote;
- a barrier that not all threads of a block reach; a shuffle that not all threads of its mask reach, or that takes from
  others (threads wait for each other at shuffles, as PTX says);
- an instruction that it does not know, atomics among them.

Arithmetic is IEEE, as PTX says it: fused multiply-adds round once. Results that are not numbers have no promised bits.
"""
import ctypes
import re

import numpy as np

BUFFER_SHIFT = 40  # buffer k is at (k + 1) << 40
WARP = 32
_libm = ctypes.CDLL("libm.so.6")
_libm.fma.restype = ctypes.c_double
_libm.fma.argtypes = [ctypes.c_double] * 3
_fma64 = np.vectorize(_libm.fma, otypes=[np.float64])


class Fault(Exception):
    pass


def bits_of(kind):
    return 1 if kind == "pred" else int(kind[1:])


def dtype_of(kind):
    letter, bits = kind[0], int(kind[1:])
    return np.dtype({"f": f"float{bits}", "s": f"int{bits}"}.get(letter, f"uint{bits}"))


def as_type(raw, kind):
    """Raw bits (uint64) as numbers of a PTX type."""
    return raw.astype(f"uint{bits_of(kind)}").view(dtype_of(kind))


def to_raw(values, kind):
    values = np.ascontiguousarray(values, dtype=dtype_of(kind))
    return values.view(f"uint{bits_of(kind)}").astype(np.uint64)


def fma32(a, b, c):
    """a * b + c rounded once: the sum in f64 rounded to odd, then to f32."""
    product = a.astype(np.float64) * b.astype(np.float64)  # exact
    addend = c.astype(np.float64)
    total = product + addend
    rest = total - product
    error = (product - (total - rest)) + (addend - rest)
    bits = total.view(np.int64)
    fix = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(fix, bits + step, bits).view(np.float64).astype(np.float32)


class Entry:
    def __init__(self, name, params, block, body):
        self.name, self.params, self.block = name, params, block
        self.code, self.labels = [], {}
        for statement in re.findall(r"[^;:{}]+[;:]|[{}]", body):
            statement = statement.strip()
            if statement in "{}" or statement.startswith("."):
                continue
            if statement.endswith(":"):
                self.labels[statement[:-1].strip()] = len(self.code)
                continue
            guard, text = None, statement[:-1].strip()
            if text.startswith("@"):
                guard, text = text.split(None, 1)
            op, _, rest = text.partition(" ") if " " in text else (text.split()[0], "", "")
            op, rest = (text.split(None, 1) + [""])[:2]
            self.code.append((guard, op, self.operands(rest)))

    @staticmethod
    def operands(text):
        parts, depth, current = [], 0, ""
        for c in text:
            depth += (c in "{[") - (c in "}]")
            if c == "," and depth == 0:
                parts.append(current.strip())
                current = ""
            else:
                current += c
        return parts + [current.strip()] if current.strip() else parts


class Module:
    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.constants, self.shared, self.shared_bytes = {}, {}, 0
        for match in re.finditer(r"\.global\s+\.align\s+\d+\s+\.b8\s+(\w+)\[(\d+)\]\s*=\s*\{([^}]*)\}", text):
            data = np.zeros(int(match[2]), np.uint8)
            values = [int(x, 0) for x in match[3].split(",")]
            data[: len(values)] = values
            self.constants[match[1]] = data
        for match in re.finditer(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+(\w+)\[(\d+)\]", text):
            align = int(match[1])
            self.shared_bytes = -(-self.shared_bytes // align) * align
            self.shared[match[2]] = self.shared_bytes
            self.shared_bytes += int(match[3])
        # Braces in statements are of vectors; the body ends with one at the start of a line.
        entry = re.compile(r"\.visible\s+\.entry\s+([\w$]+)\s*\(([^)]*)\)\s*((?:\.\w+[^\n{]*\n)*)\{(.*?)\n\}", re.S)
        self.entries = {}
        for match in entry.finditer(text):
            params = [line.split()[-1] for line in match[2].split(",") if line.strip()]
            block = int(re.search(r"\.reqntid\s+(\d+)", match[3])[1])
            body = re.sub(r"\{\s*(%[^}]*)\}", lambda m: "<" + m[1].replace(",", "|") + ">", match[4])
            self.entries[match[1]] = Entry(match[1], params, block, body)


class Grid:
    """One launch, or some blocks of it."""

    def __init__(self, module, entry, buffers, writable, first_block, blocks):
        self.module, self.entry = module, entry
        self.count = blocks * entry.block
        thread = np.arange(self.count, dtype=np.uint64)
        self.tid, self.ctaid = thread % np.uint64(entry.block), thread // np.uint64(entry.block)
        self.block = self.ctaid.astype(np.int64)
        self.lane = (self.tid % np.uint64(WARP)).astype(np.int64)
        self.warp = np.arange(self.count, dtype=np.int64) - self.lane
        self.ctaid = self.ctaid + np.uint64(first_block)
        self.registers = {}
        self.buffers, self.writable = list(buffers), list(writable)
        self.addresses = {p: np.uint64((k + 1) << BUFFER_SHIFT) for k, p in enumerate(entry.params)}
        self.writer = [np.full(len(b), -1, np.int64) for b in buffers]
        self.reader = [np.full(len(b), -1, np.int64) for b in buffers]
        for name, data in module.constants.items():
            self.addresses[name] = np.uint64((len(self.buffers) + 1) << BUFFER_SHIFT)
            self.buffers.append(data)
            self.writable.append(False)
            self.writer.append(None)
            self.reader.append(None)
        for name, offset in module.shared.items():
            self.addresses[name] = np.uint64(offset)
        size = max(1, module.shared_bytes)
        self.shared = np.zeros((blocks, size), np.uint8)
        self.shared_writer = np.full((blocks, size), -1, np.int64)  # thread
        self.shared_reader = np.full((blocks, size), -1, np.int64)  # -2: several
        self.shared_now = np.zeros((blocks, size), bool)  # the writer wrote since the last barrier
        self.first_thread = first_block * entry.block
        self.steps = 0

    # ---- operands ----

    def read(self, operand, idx):
        """Raw bits of an operand for the threads `idx`."""
        if operand.startswith("%"):
            if operand in ("%tid.x", "%ctaid.x"):
                return (self.tid if operand == "%tid.x" else self.ctaid)[idx]
            if operand == "%ntid.x":
                return np.full(len(idx), self.entry.block, np.uint64)
            if operand not in self.registers:
                raise Fault(f"{operand} is read before it is written")
            return self.registers[operand][idx]
        if operand.startswith("0f"):
            value = int(operand[2:], 16)
        elif operand.startswith("0d"):
            value = int(operand[2:], 16)
        elif re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)U?", operand):
            value = int(operand.rstrip("U"), 0) & (2**64 - 1)
        else:
            value = int(self.addresses[operand])
        return np.full(len(idx), value, np.uint64)

    def value(self, operand, kind, idx):
        return as_type(self.read(operand, idx), kind)

    def write(self, register, raw, idx):
        if register == "_":
            return
        if register not in self.registers:
            self.registers[register] = np.zeros(self.count, np.uint64)
        self.registers[register][idx] = raw

    def address(self, operand, idx):
        base, plus, offset = operand.strip("[]").partition("+")
        return self.read(base, idx) + np.uint64(int(offset or "0") & (2**64 - 1))

    # ---- memory ----

    @staticmethod
    def buffer_of(address):
        return (address >> np.uint64(BUFFER_SHIFT)).astype(np.int64) - 1

    def by_buffer(self, operand, idx, space):
        """Masks of the threads that access the same buffer; one mask for shared memory."""
        if space == "shared":
            return [np.ones(len(idx), bool)]
        buffers = self.buffer_of(self.address(operand, idx))
        return [buffers == b for b in np.unique(buffers)]

    def access(self, operand, kind, width, idx, space):
        """(buffer or block rows, byte positions [threads, bytes]) of an access of `width` elements."""
        where, size = self.address(operand, idx), bits_of(kind) // 8 * width
        if np.any(where % np.uint64(size)):
            raise Fault(f"{operand}: an access of {size} bytes is not aligned")
        if space == "shared":
            offset = where.astype(np.int64)
            if np.any(offset + size > self.module.shared_bytes):
                raise Fault(f"{operand}: beyond shared memory")
            return self.block[idx], offset[:, None] + np.arange(size)
        buffer = self.buffer_of(where)
        offset = (where & np.uint64(2**BUFFER_SHIFT - 1)).astype(np.int64)
        if not 0 <= buffer[0] < len(self.buffers):
            raise Fault(f"{operand}: not an address of a buffer")
        if np.any(offset + size > len(self.buffers[buffer[0]])):
            raise Fault(f"{operand}: {size} bytes at {offset.max()} of buffer {buffer[0]}, which has "
                        f"{len(self.buffers[buffer[0]])}")
        return int(buffer[0]), offset[:, None] + np.arange(size)

    def load(self, operand, kind, width, idx, space):
        where, at = self.access(operand, kind, width, idx, space)
        thread = (self.first_thread + idx)[:, None]
        if space == "shared":
            rows = where[:, None]
            writer = self.shared_writer[rows, at]
            if np.any(writer < 0):
                raise Fault(f"{operand}: shared memory that nobody wrote")
            if np.any(self.shared_now[rows, at] & (writer != thread)):
                raise Fault(f"{operand}: another thread wrote this since the last barrier")
            old = self.shared_reader[rows, at]
            self.shared_reader[rows, at] = np.where((old == -1) | (old == thread), thread, -2)
            raw = self.shared[rows, at]
        else:
            if self.writable[where]:
                writer = self.writer[where][at]
                if np.any(writer < -1) or np.any((writer >= 0) & (writer != thread)):
                    raise Fault(f"{operand}: another thread wrote this")
                self.reader[where][at] = thread
            raw = self.buffers[where][at]
        return np.ascontiguousarray(raw).view(f"<u{bits_of(kind) // 8}").astype(np.uint64)

    def store(self, operand, kind, raw, idx, space):
        width = raw.shape[1]
        where, at = self.access(operand, kind, width, idx, space)
        data = np.ascontiguousarray(raw.astype(f"<u{bits_of(kind) // 8}")).view(np.uint8)
        thread = np.broadcast_to((self.first_thread + idx)[:, None], at.shape)
        if space == "shared":
            rows = np.broadcast_to(where[:, None], at.shape)
            if len(np.unique(rows * self.module.shared_bytes + at)) != at.size:
                raise Fault(f"{operand}: two threads write the same bytes of shared memory")
            reader = self.shared_reader[rows, at]
            if np.any((reader != -1) & (reader != thread)):
                raise Fault(f"{operand}: another thread read this since the last barrier")
            if np.any(self.shared_now[rows, at] & (self.shared_writer[rows, at] != thread)):
                raise Fault(f"{operand}: another thread wrote this since the last barrier")
            self.shared[rows, at], self.shared_writer[rows, at], self.shared_now[rows, at] = data, thread, True
            return
        if not self.writable[where]:
            raise Fault(f"{operand}: a write to buffer {where}, which is only read")
        if len(np.unique(at)) != at.size:
            raise Fault(f"{operand}: two threads write the same bytes")
        for seen, what in ((self.writer[where][at], "wrote"), (self.reader[where][at], "read")):
            if np.any((seen >= 0) & (seen != thread)):
                raise Fault(f"{operand}: another thread {what} this")
        self.writer[where][at] = thread
        self.buffers[where][at] = data

    # ---- instructions ----

    def shuffle(self, mode, args, idx):
        target = args[0].split("|")[0]
        raw, by, clamp, mask = (self.read(a, idx).astype(np.int64) for a in args[1:5])
        lane, warp = self.lane[idx], self.warp[idx]
        if not np.all((mask >> lane) & 1):
            raise Fault("a shuffle by a thread that its mask does not name")
        segment = clamp >> 8 & 31
        last, first = (lane & segment) | (clamp & 31 & ~segment), lane & segment
        source = {"down": lane + by, "idx": first | (by & ~segment & 31), "bfly": lane ^ by}[mode]
        source = np.where(source <= last, source, lane)
        if not np.all((mask >> source) & 1):
            raise Fault("a shuffle from a thread that its mask does not name")
        values = np.zeros(self.count, np.uint64)
        values[idx] = raw.astype(np.uint64)
        self.write(target, values[warp + source], idx)

    def complete(self, args, idx):
        """Of the threads at a shuffle, those all of whose mask's threads are there too."""
        mask, warp = self.read(args[4], idx).astype(np.int64), self.warp[idx]
        is_here, is_complete = np.zeros(self.count, bool), np.ones(len(idx), bool)
        is_here[idx] = True
        for bit in range(WARP):
            is_complete &= is_here[np.minimum(warp + bit, self.count - 1)] | ((mask >> bit) & 1 == 0)
        return is_complete

    def convert(self, parts, args, idx):
        to, source = parts[-2], parts[-1]
        x = self.value(args[1], source, idx)
        if to[0] == "f":
            if source[0] == "f" and any(m in parts for m in ("rmi", "rpi", "rzi", "rni")):
                x = {"rmi": np.floor, "rpi": np.ceil, "rzi": np.trunc, "rni": np.rint}[parts[1]](x)
            result = x.astype(dtype_of(to))
        elif source[0] == "f":
            rounded = {"rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil, "rni": np.rint}[parts[1]](x).astype(np.float64)
            info = np.iinfo(dtype_of(to))
            rounded = np.where(np.isnan(rounded), 0, rounded)
            result = np.where(rounded >= float(info.max), info.max, np.clip(rounded, float(info.min), None).astype(np.int64))
            result = result.astype(dtype_of(to))
        else:
            result = x.astype(dtype_of(to))
        self.write(args[0], to_raw(result, to), idx)

    def compare(self, parts, args, idx):
        how, kind = parts[1], parts[-1]
        a, b = self.value(args[1], kind, idx), self.value(args[2], kind, idx)
        either = np.isnan(a) | np.isnan(b) if kind[0] == "f" else np.zeros(len(idx), bool)
        table = {"eq": a == b, "ne": (a != b) & ~either, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b,
                 "lo": a < b, "ls": a <= b, "hi": a > b, "hs": a >= b, "num": ~either, "nan": either}
        result = table[how[:-1]] | either if how not in table and how.endswith("u") else table[how]
        if len(parts) == 4 and parts[2] in ("and", "or", "xor"):
            other = self.read(args[3], idx) != 0
            result = {"and": result & other, "or": result | other, "xor": result ^ other}[parts[2]]
        self.write(args[0], result.astype(np.uint64), idx)

    def binary(self, parts, args, idx):
        op, kind = parts[0], parts[-1]
        if kind == "pred":
            a, b = (self.read(x, idx) != 0 for x in args[1:3])
            result = {"and": a & b, "or": a | b, "xor": a ^ b}[op]
            return self.write(args[0], result.astype(np.uint64), idx)
        a = self.value(args[1], kind, idx)
        if op in ("shl", "shr"):
            amount = self.value(args[2], "u32", idx).astype(np.int64)
            bits = bits_of(kind)
            wide = a.astype(np.int64) if kind[0] == "s" else a.astype(np.uint64)
            safe = np.minimum(amount, bits - 1).astype(wide.dtype)
            result = wide << safe if op == "shl" else wide >> safe
            if kind[0] != "s" or op == "shl":
                result = np.where(amount >= bits, 0, result)
            return self.write(args[0], to_raw(result.astype(dtype_of(kind)), kind), idx)
        b = self.value(args[2], kind, idx)
        if op in ("min", "max") and kind[0] == "f":
            pick = np.minimum if op == "min" else np.maximum
            result = pick(a, b) if "NaN" in parts else np.where(np.isnan(a), b, np.where(np.isnan(b), a, pick(a, b)))
            equal = (a == 0) & (b == 0)
            sign = np.signbit(a) & np.signbit(b) if op == "max" else np.signbit(a) | np.signbit(b)
            result = np.where(equal, np.where(sign, -0.0, 0.0), result)
        elif op == "mul" and kind[0] != "f":
            if parts[1] == "wide":
                wide = f"{kind[0]}{2 * bits_of(kind)}"
                result = a.astype(dtype_of(wide)) * b.astype(dtype_of(wide))
                return self.write(args[0], to_raw(result, wide), idx)
            if parts[1] == "hi":
                product = a.astype(object) * b.astype(object)
                result = np.array([int(p) >> bits_of(kind) for p in product], dtype=object)
                result = np.array([int(p) & (2**bits_of(kind) - 1) for p in result], dtype=np.uint64)
                return self.write(args[0], result, idx)
            result = a * b
        elif op in ("div", "rem") and kind[0] != "f":
            quotient = a // b if kind[0] != "s" else np.trunc(a.astype(np.longdouble) / b).astype(a.dtype)
            result = quotient if op == "div" else a - quotient * b
        else:
            table = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum,
                     "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
            result = table[op](a, b)
        self.write(args[0], to_raw(result.astype(dtype_of(kind)), kind), idx)

    def ternary(self, parts, args, idx):
        op, kind = parts[0], parts[-1]
        a, b = self.value(args[1], kind, idx), self.value(args[2], kind, idx)
        if op == "fma":
            c = self.value(args[3], kind, idx)
            result = fma32(a, b, c) if kind == "f32" else _fma64(a, b, c)
            return self.write(args[0], to_raw(result, kind), idx)
        if parts[1] == "wide":
            kind_wide = f"{kind[0]}{2 * bits_of(kind)}"
            c = self.value(args[3], kind_wide, idx)
            result = a.astype(dtype_of(kind_wide)) * b.astype(dtype_of(kind_wide)) + c
            return self.write(args[0], to_raw(result, kind_wide), idx)
        result = a * b + self.value(args[3], kind, idx)
        self.write(args[0], to_raw(result, kind), idx)

    def execute(self, op, args, idx):
        parts = op.split(".")
        base, kind = parts[0], parts[-1]
        if base == "ld":
            space = parts[1]
            if space == "param":
                return self.write(args[0], np.full(len(idx), self.addresses[args[1].strip("[]")], np.uint64), idx)
            targets = args[0].strip("<>").split("|")
            values = np.zeros((len(idx), len(targets)), np.uint64)
            for part in self.by_buffer(args[1], idx, space):
                values[part] = self.load(args[1], kind, len(targets), idx[part], space)
            for number, target in enumerate(targets):
                self.write(target.strip(), values[:, number], idx)
        elif base == "st":
            sources = args[1].strip("<>").split("|")
            raw = np.stack([self.read(s.strip(), idx) for s in sources], axis=1)
            for part in self.by_buffer(args[0], idx, parts[1]):
                self.store(args[0], kind, raw[part], idx[part], parts[1])
        elif base in ("mov", "cvta"):
            if args[1].startswith("<"):  # packs
                pieces = [self.read(s.strip(), idx) for s in args[1].strip("<>").split("|")]
                bits = bits_of(kind) // len(pieces)
                mask = np.uint64(2**bits - 1)
                raw = sum(((p & mask) << np.uint64(bits * n) for n, p in enumerate(pieces)), np.uint64(0))
                return self.write(args[0], raw, idx)
            if args[0].startswith("<"):  # unpacks
                targets = args[0].strip("<>").split("|")
                bits = bits_of(kind) // len(targets)
                raw = self.read(args[1], idx)
                for n, target in enumerate(targets):
                    self.write(target.strip(), raw >> np.uint64(bits * n) & np.uint64(2**bits - 1), idx)
                return None
            self.write(args[0], self.read(args[1], idx), idx)
        elif base == "cvt":
            self.convert(parts, args, idx)
        elif base == "setp":
            self.compare(parts, args, idx)
        elif base == "selp":
            chosen = self.read(args[3], idx) != 0
            self.write(args[0], np.where(chosen, self.read(args[1], idx), self.read(args[2], idx)), idx)
        elif base in ("fma", "mad"):
            self.ternary(parts, args, idx)
        elif base in ("neg", "abs", "not", "sqrt", "rcp"):
            if kind == "pred":
                return self.write(args[0], (self.read(args[1], idx) == 0).astype(np.uint64), idx)
            x = self.value(args[1], kind, idx)
            if base in ("sqrt", "rcp") and parts[1] != "rn":
                raise Fault(f"{op} is approximate")
            table = {"neg": np.negative, "abs": np.abs, "not": np.invert, "sqrt": np.sqrt, "rcp": lambda v: v.dtype.type(1) / v}
            self.write(args[0], to_raw(table[base](x), kind), idx)
        elif base == "shfl":
            self.shuffle(parts[2], args, idx)
        elif base == "prmt":
            a, b, select = (self.read(x, idx) for x in args[1:4])
            both = a & np.uint64(0xFFFFFFFF) | b << np.uint64(32)
            raw = np.zeros(len(idx), np.uint64)
            for n in range(4):
                nibble = select >> np.uint64(4 * n) & np.uint64(15)
                byte = both >> ((nibble & np.uint64(7)) * np.uint64(8)) & np.uint64(255)
                byte = np.where(nibble & np.uint64(8), np.where(byte & np.uint64(128), 255, 0), byte).astype(np.uint64)
                raw |= byte << np.uint64(8 * n)
            self.write(args[0], raw, idx)
        elif base in ("bfe",):
            x, at, length = (self.value(a, k, idx) for a, k in zip(args[1:4], (kind, "u32", "u32")))
            mask = (np.uint64(1) << np.minimum(length, 63).astype(np.uint64)) - np.uint64(1)
            if kind[0] == "s":
                raise Fault("bfe.s is not known")
            self.write(args[0], x.astype(np.uint64) >> at.astype(np.uint64) & mask, idx)
        elif base in ("add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "shl", "shr"):
            if base in ("div", "add", "mul", "sub") and kind[0] == "f" and parts[1] != "rn":
                raise Fault(f"{op} does not say how it rounds")
            self.binary(parts, args, idx)
        else:
            raise Fault(f"{op} is no instruction that this machine knows")
        return None

    def run(self):
        pc = np.zeros(self.count, np.int64)
        is_alive, is_waiting = np.ones(self.count, bool), np.zeros(self.count, bool)
        is_held = np.zeros(self.count, bool)  # at a shuffle
        code, end = self.entry.code, len(self.entry.code)
        while True:
            ready = is_alive & ~is_waiting & ~is_held
            if not ready.any():
                if not is_alive.any():
                    return
                if is_held.any():
                    raise Fault("a shuffle that not all threads of its mask reach")
                # Everybody waits: no thread of a block that waits may have left.
                for block in np.unique(self.block[is_alive]):
                    if not is_alive[self.block == block].all():
                        raise Fault("a thread left before a barrier of its block")
                is_waiting[:] = False
                self.shared_now[:] = False
                self.shared_reader[:] = -1
                continue
            at = int(pc[ready].min())
            idx = np.nonzero(ready & (pc == at))[0]
            others = pc[ready & (pc > at)]
            limit = int(others.min()) if len(others) else end + 1
            while True:
                if at >= end:
                    raise Fault("ran off the end")
                guard, op, args = code[at]
                self.steps += 1
                if guard:
                    taken = self.read(guard.lstrip("@!"), idx) != 0
                    taken = ~taken if guard.startswith("@!") else taken
                if op.startswith("bra"):
                    if guard and not taken.all():
                        pc[idx] = at + 1
                        pc[idx[taken]] = self.entry.labels[args[0]]
                        break
                    at = self.entry.labels[args[0]]
                    pc[idx] = at
                    break
                if op == "ret":
                    left = idx[taken] if guard else idx
                    is_alive[left] = False
                    pc[idx] = at + 1
                    break
                if op.startswith("bar"):
                    is_waiting[idx] = True
                    pc[idx] = at + 1
                    break
                if op.startswith("shfl"):
                    if guard:
                        raise Fault("a shuffle under a predicate")
                    here = np.nonzero(is_held & (pc == at))[0]
                    here = np.union1d(here, idx)
                    is_complete = self.complete(args, here)
                    pc[here] = at + is_complete
                    is_held[here] = ~is_complete
                    if is_complete.any():
                        self.execute(op, args, here[is_complete])
                    break
                active = idx[taken] if guard else idx
                if len(active):
                    self.execute(op, args, active)
                at += 1
                if at >= limit:
                    pc[idx] = at
                    break


def launch(module, name, buffers, read_count, grid, blocks_at_once=512):
    """Runs `name` on the byte arrays `buffers`: the first `read_count` are only read, the others are written in place.
    Returns, for each written buffer, whether each byte was written."""
    entry = module.entries[name]
    if len(entry.params) != len(buffers):
        raise Fault(f"{name} has {len(entry.params)} parameters for {len(buffers)} buffers")
    writable = [k >= read_count for k in range(len(buffers))]
    written = [np.zeros(len(b), bool) for b in buffers[read_count:]]
    for first in range(0, grid, blocks_at_once):
        part = Grid(module, entry, buffers, writable, first, min(blocks_at_once, grid - first))
        with np.errstate(all="ignore"):
            part.run()
        for flags, writer in zip(written, part.writer[read_count:len(buffers)]):
            if np.any(flags & (writer >= 0)):
                raise Fault("two blocks write the same bytes")
            flags |= writer >= 0
    return written
