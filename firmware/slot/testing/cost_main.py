# SPDX-License-Identifier: Apache-2.0
"""Prints the cost of a slot, on four boards: `bazel run //firmware/slot/testing:cost`."""

from dataclasses import astuple

from firmware.slot.testing.cost import BOARDS, cost

_HEAD = ("board", "flash", "package", "check", "load", "self-test", "inference")


def main() -> None:
    rows = [_HEAD, *(tuple(map(str, astuple(cost(board)))) for board in BOARDS)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
    print("flash and package in bytes, the rest in instructions")


if __name__ == "__main__":
    main()
