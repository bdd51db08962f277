# SPDX-License-Identifier: Apache-2.0
"""Write the C program for the layers of a board, each in a region of its own.

program board.json output.c
"""

from collections.abc import Iterator
from pathlib import Path

from absl import app

from boards.board import Board, load_board
from kernels.common import emit
from kernels.common.kernel import Constant, KernelCall, Value
from kernels.registry import kernel_call
from kernels.testing.case import Layer
from kernels.testing.folders import folders

_WEIGHTS_SHARE = 2
"""Divisor for the share of flash for weights, 1 / 2; the rest is for code and other constants."""

_ALIGNMENT = 16


def layers() -> Iterator[Layer]:
    """Yield the layers of all kernels."""
    for folder in folders():
        yield from folder.layers()


def fitting_layers(board: Board) -> Iterator[tuple[Layer, KernelCall]]:
    """Yield the layers with enough memory on the board. A layer's number is its region's."""
    flash = next(memory.size for memory in board.memories if memory.name == board.code)
    for layer in layers():
        call = kernel_call(layer.call, board.isa)
        if layer.nearest and call.fallback is None:
            continue
        while layer.nearest and call.fallback is not None:
            call = call.fallback
        weights = max((c.array.nbytes for c in _constants(call).values()), default=0)
        fits = _arena_bytes(layer, call) <= board.arena[0].bytes
        if fits and weights * _WEIGHTS_SHARE <= flash:
            yield layer, call


def program(board: Board) -> str:
    """Return a program.

    Inputs, outputs and scratch memory share an arena, all weights are one array: only time matters.
    """
    chosen = list(fitting_layers(board))
    definitions: list[str] = []
    runs: list[str] = []
    shared = max(c.array.size for _, call in chosen for c in _weights(call))
    for region, (layer, call) in enumerate(chosen):
        addresses: dict[int, str] = {}
        top = 0
        for value in _activations(layer):
            addresses[id(value)] = f"(void *)(arena + {top})"
            top += -(-value.bytes // _ALIGNMENT) * _ALIGNMENT
        for index, (operand, constant) in enumerate(_constants(call).items()):
            name = "weights"
            if constant.array.dtype.name != "int8":
                name = f"k{region}_{index}"
                definitions.append(emit.constant(name, constant))
            addresses[operand] = name
        text = emit.call_text(call, f"layer{region}", _address_in(addresses))
        definitions.append(text.definitions)
        runs.append(
            f"  {{\n    const pl_context ctx = {{arena + {top}, {call.scratch}}};\n"
            f"    fill_arena();\n    pl_profile_begin({region});\n"
            f"    const pl_status status = "
            f"{call.function}(&ctx, {text.params}, {text.dims}, {text.data});\n"
            f"    pl_profile_end({region});\n    if (status != PL_OK) return 1;\n  }}\n"
        )
    headers = sorted({call.header for _, call in chosen})
    arena = max(_arena_bytes(layer, call) for layer, call in chosen)
    return (
        "// SPDX-License-Identifier: Apache-2.0\n// Made by measure/bench/program.py.\n"
        '#include "boards/common/print.h"\n#include "firmware/runtime/profile.h"\n'
        + "".join(f'#include "{header}"\n' for header in headers)
        + f"\n_Alignas(16) static uint8_t arena[{arena}]\n"
        f'    __attribute__((section(".bss.pl_arena.{board.arena[0].name}")));\n'
        f"_Alignas(16) static const int8_t weights[{shared}] = {{1}};\n\n"
        + "".join(definitions)
        + "\n// Different values, not all saturating; the same for every layer.\n"
        "static void fill_arena(void) {\n"
        "  for (uint32_t i = 0; i < sizeof(arena); ++i) arena[i] = (uint8_t)(i * 7 + (i >> 5));\n"
        "}\n\nint main(void) {\n" + "".join(runs) + '  pl_print("PL:PASS\\n");\n  return 0;\n}\n'
    )


def _address_in(addresses: dict[int, str]) -> emit.Address:
    return lambda operand: addresses[id(operand)]


def _activations(layer: Layer) -> list[Value]:
    found: list[Value] = []
    for argument in layer.call.args.values():
        items = argument if isinstance(argument, list) else [argument]
        found += [v for v in items if isinstance(v, Value) and v.constant is None]
    return found + list(layer.call.outputs)


def _arena_bytes(layer: Layer, call: KernelCall) -> int:
    values = _activations(layer)
    return sum(-(-v.bytes // _ALIGNMENT) * _ALIGNMENT for v in values) + call.scratch


def _constants(call: KernelCall) -> dict[int, Constant]:
    """Return the operands for flash by their identity: packed, or as in the model."""
    found: dict[int, Constant] = {}
    for operand in call.data.values():
        if isinstance(operand, Constant):
            found[id(operand)] = operand
        elif isinstance(operand, Value) and operand.constant is not None:
            found[id(operand)] = Constant(operand.constant)
    return found


def _weights(call: KernelCall) -> list[Constant]:
    constants = _constants(call).values()
    return [constant for constant in constants if constant.array.dtype.name == "int8"]


def main(argv: list[str]) -> None:
    Path(argv[2]).write_text(program(load_board(Path(argv[1]))))


if __name__ == "__main__":
    app.run(main)
