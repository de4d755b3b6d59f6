#!/usr/bin/env python3
"""Writes the op reference into docs/operations.md, below its marker, or checks that it is up to date.

usage: update_reference.py [--check] MLIR_TBLGEN FILE -- TBLGEN_ARGUMENTS...

The part above the marker is written by hand. Traits and interfaces are left out: the verifiers' constraints say the same
in words.
"""
import subprocess
import sys

MARKER = "<!-- Generated from here on: ninja autopar_reference. Edit the .td files instead. -->\n"
NOISE = ("Traits:", "Interfaces:", "Effects:", "<!--", "[TOC]")


def generate(tblgen, arguments):
    text = subprocess.run([tblgen, "-gen-dialect-doc", "-dialect=autopar", *arguments], check=True,
                          capture_output=True, text=True).stdout
    lines = []
    for line in text.splitlines():
        line = line.rstrip()
        if line.startswith(NOISE) or (not line and (not lines or not lines[-1])):
            continue
        if line.startswith("# "):  # the page has a title already
            line = "# Reference"
        lines.append(line)
    return "\n".join(lines).strip() + "\n"


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    if check:
        arguments.remove("--check")
    split = arguments.index("--")
    tblgen, path = arguments[:split]
    with open(path, encoding="utf-8") as file:
        committed = file.read()
    head, found, _ = committed.partition(MARKER)
    if not found:
        sys.exit(f"{path}: the marker line is missing: {MARKER.strip()}")
    expected = head + MARKER + "\n" + generate(tblgen, arguments[split + 1:])
    if check:
        if committed != expected:
            sys.exit(f"{path} is out of date: run ninja autopar_reference and commit the result")
    elif committed != expected:
        with open(path, "w", encoding="utf-8") as file:
            file.write(expected)


if __name__ == "__main__":
    main()
