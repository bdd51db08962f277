# SPDX-License-Identifier: Apache-2.0
"""Writes cases of the corpus as C (cases.h): payloads, inputs, checksums of the right outputs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from absl import app, flags

from boards.board import Board, load_board
from npu.ethos_u.npu_model import EthosUModel
from npu.ethos_u.payload import parse_payload
from tests.ethos_u.corpus.archive import Compiled, Lowered, read_archive
from tests.ethos_u.corpus.reference import Array, make_inputs, reference_outputs

_CASES = flags.DEFINE_list("cases", [], "graph/accelerator/memory_mode/inputs.")
_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The C file.", required=True)

_CACHE_LINE = 32  # data dropped from the cache by the driver shares no line with other data
_WEIGHTS = '__attribute__((section(".rodata.pl_weights"), aligned(16)))'


@dataclass(frozen=True)
class _Case:
    name: str
    payload: bytes
    inputs: list[Array]
    output_crc: int
    memory: dict[str, int]  # bytes by purpose


def _array(name: str, data: bytes) -> str:
    """Return bytes as 64-bit numbers, because they compile fast."""
    words = np.frombuffer(data + bytes(-len(data) % 8), np.uint64)
    lines = [
        "    " + " ".join(f"{word:#x}," for word in words[at : at + 4])
        for at in range(0, len(words), 4)
    ]
    return f"static const uint64_t {name}[] {_WEIGHTS} = {{\n" + "\n".join(lines) + "\n};\n"


def _case(part: Lowered, compiled: Compiled, kind: str) -> _Case:
    inputs = make_inputs(part.name, kind, part.tosa)
    crc = 0
    for output in reference_outputs(part.tosa, inputs):
        crc = zlib.crc32(output.tobytes(), crc)
    summary = EthosUModel(compiled.accelerator).inspect(compiled.payload)
    return _Case(
        f"{part.name} {compiled.accelerator} {compiled.memory_mode} {kind}",
        compiled.payload,
        inputs,
        crc,
        {
            "workspace": summary.workspace_bytes,
            "scratch": parse_payload(compiled.payload).scratch_size,
            "fast_scratch": summary.region_bytes[2],
        },
    )


def _find(paths: list[str], wanted: list[str]) -> Iterator[_Case]:
    for path in paths:
        for part in read_archive(Path(path)):
            for compiled in part.compiled:
                target = f"{part.name}/{compiled.accelerator}/{compiled.memory_mode}/"
                for case in wanted:
                    if case.startswith(target):
                        yield _case(part, compiled, case.removeprefix(target))


def _source(cases: list[_Case], board: Board) -> str:
    """Return the C file. The NPU's memory is the board's, the model's is the largest one."""
    if board.npu is None:
        raise ValueError(f"board {board.name} has no NPU")
    text = ['#include "tests/ethos_u/image/cases.h"\n']
    rows = []
    for index, case in enumerate(cases):
        text.append(_array(f"payload_{index}", case.payload))
        for i, array in enumerate(case.inputs):
            text.append(_array(f"input_{index}_{i}", array.tobytes()))
        names = ", ".join(f"input_{index}_{i}" for i in range(len(case.inputs)))
        text.append(f"static const void *const inputs_{index}[] = {{{names}}};\n")
        rows.append(
            f'    {{"{case.name}", payload_{index}, {len(case.payload)}, inputs_{index}, '
            f"{case.output_crc:#010x}}},\n"
        )
    text.append("static const image_case cases[] = {\n" + "".join(rows) + "};\n")
    most = max(board.arena, key=lambda pool: pool.bytes).name
    pools = {"workspace": most, "scratch": board.npu.scratch, "fast_scratch": board.npu.scratch}
    for memory, pool in pools.items():
        size = -(-max(1, *(case.memory[memory] for case in cases)) // _CACHE_LINE) * _CACHE_LINE
        attributes = f'__attribute__((section(".bss.pl_arena.{pool}"), aligned({_CACHE_LINE})))'
        text.append(f"static uint8_t {memory}[{size}] {attributes};\n")
    fields = ", ".join(f"{memory}, sizeof({memory})" for memory in pools)
    text.append(f"const image_cases image = {{cases, {len(cases)}, {fields}}};\n")
    return "\n".join(text)


def main(argv: list[str]) -> None:
    cases = list(_find(argv[1:], _CASES.value))
    if len(cases) != len(_CASES.value):
        raise SystemExit(f"{len(_CASES.value)} cases asked for, found {[c.name for c in cases]}")
    Path(_OUTPUT.value).write_text(_source(cases, load_board(Path(_BOARD.value))))


if __name__ == "__main__":
    app.run(main)
