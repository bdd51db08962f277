# SPDX-License-Identifier: Apache-2.0
"""Writes cases of the corpus as C (cases.h): payloads, inputs, checksums of the right outputs."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
from absl import app, flags

from firmware.ethos_u.corpus.archive import read_archive
from firmware.ethos_u.corpus.reference import make_inputs, reference_outputs
from firmware.ethos_u.npu_model import EthosUModel
from firmware.ethos_u.payload import parse_payload

_CASES = flags.DEFINE_list("cases", [], "graph/accelerator/memory_mode/inputs.")
_OUTPUT = flags.DEFINE_string("output", None, "The C file.", required=True)

_WEIGHTS = '__attribute__((section(".rodata.pl_weights"), aligned(16)))'
_LARGE = '__attribute__((section(".pl_arena.ddr"), aligned(16)))'


def _array(name: str, data: bytes, attributes: str) -> str:
    """Bytes as 64-bit numbers, which compile fast."""
    words = np.frombuffer(data + bytes(-len(data) % 8), np.uint64)
    lines = [
        "    " + " ".join(f"{word:#x}," for word in words[at : at + 4])
        for at in range(0, len(words), 4)
    ]
    return f"static const uint64_t {name}[] {attributes} = {{\n" + "\n".join(lines) + "\n};\n"


def main(argv: list[str]) -> None:
    wanted = [case.split("/") for case in _CASES.value]
    text = ['#include "firmware/ethos_u/image/cases.h"\n']
    rows: list[str] = []
    sizes = {"workspace": 0, "scratch": 0, "fast_scratch": 0}
    for path in argv[1:]:
        for part in read_archive(Path(path)):
            for name, accelerator, mode, kind in wanted:
                compiled = next(
                    (
                        c
                        for c in part.compiled
                        if (c.accelerator, c.memory_mode) == (accelerator, mode)
                    ),
                    None,
                )
                if part.name != name or compiled is None:
                    continue
                index = len(rows)
                inputs = make_inputs(name, kind, part.tosa)
                crc = 0
                for output in reference_outputs(part.tosa, inputs):
                    crc = zlib.crc32(output.tobytes(), crc)
                parsed = parse_payload(compiled.payload)
                summary = EthosUModel(accelerator).inspect(compiled.payload)
                sizes["workspace"] = max(sizes["workspace"], summary.workspace_bytes)
                sizes["scratch"] = max(sizes["scratch"], parsed.scratch_size)
                sizes["fast_scratch"] = max(sizes["fast_scratch"], summary.region_bytes[2])
                text.append(_array(f"payload_{index}", compiled.payload, _WEIGHTS))
                for i, array in enumerate(inputs):
                    text.append(_array(f"input_{index}_{i}", array.tobytes(), _WEIGHTS))
                names = ", ".join(f"input_{index}_{i}" for i in range(len(inputs)))
                text.append(f"static const void *const inputs_{index}[] = {{{names}}};\n")
                rows.append(
                    f'    {{"{name} {accelerator} {mode} {kind}", payload_{index}, '
                    f"{len(compiled.payload)}, inputs_{index}, {crc:#010x}}},\n"
                )
    if len(rows) != len(wanted):
        raise SystemExit(f"{len(wanted)} cases asked for, {len(rows)} found")
    text.append("static const image_case cases[] = {\n" + "".join(rows) + "};\n")
    for memory, size in sizes.items():
        text.append(f"static uint8_t {memory}[{max(16, -(-size // 16) * 16)}] {_LARGE};\n")
    fields = ", ".join(f"{memory}, sizeof({memory})" for memory in sizes)
    text.append(f"const image_cases image = {{cases, {len(rows)}, {fields}}};\n")
    Path(_OUTPUT.value).write_text("\n".join(text))


if __name__ == "__main__":
    app.run(main)
