# SPDX-License-Identifier: Apache-2.0
"""Lowered models through the plan compiler and a C compiler, and run on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from aot.artefact.vectors import make_vectors
from aot.lower import Lowered
from aot.plan import emit_c, emit_header
from aot.plan.plan import Plan, make_plan
from aot.plan.pte import read_program
from aot.plan.report import plan_json
from aot.plan.testing import sample_board
from firmware.apps import vectors
from kernels.common.kernel import AnyArray
from kernels.common.rows import row_count

_OPTIONS = ("-std=c11", "-w")
_SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined")
_NAME = "random_plan"
_TIMEOUT = 60


_RUNTIME = (
    "boards/common/print.c",
    "boards/host/console.c",
    "boards/host/stack.c",
    "firmware/apps/check.c",
    "firmware/apps/compare_bits.c",
    "firmware/apps/compare_close.c",
    "firmware/apps/inference.c",
    "firmware/runtime/executor.c",
    "firmware/runtime/input_rows.c",
    "firmware/runtime/model.c",
    "firmware/runtime/profile_host.c",
    "firmware/runtime/rows.c",
    "firmware/runtime/states.c",
)


def _sources(root: Path) -> list[Path]:
    """Return the runtime, an app, and all kernels that run on any core."""
    kernels = [
        path
        for path in sorted(root.glob("kernels/*/*.c"))
        if path.parent.name != "testing"
        and not path.stem.endswith(("_dsp", "_mve", "_test", "_thumb1"))
    ]
    return [*(root / name for name in _RUNTIME), *kernels]


class Host:
    """Compiler of the code shared by all models, run once.

    Args:
      folder: for objects and programs.
      sanitized: check for undefined behaviour in C; compilation takes longer.
    """

    def __init__(self, folder: Path, sanitized: bool) -> None:
        root = Path.cwd()  # the workspace, both in tests and in programs run by Bazel
        includes = (f"-I{root}", f"-I{folder}")
        compiler = os.environ.get("CC", "gcc")
        self._command = [compiler, *_OPTIONS, *(_SANITIZED if sanitized else ()), *includes]
        self._folder = folder
        sources = _sources(root)
        self._objects = [folder / f"{i}_{path.stem}.o" for i, path in enumerate(sources)]
        with ThreadPoolExecutor() as pool:
            jobs = zip(sources, self._objects, strict=True)
            list(pool.map(lambda job: self._compile("-c", job[0], output=job[1]), jobs))

    def _compile(self, *arguments: str | Path, output: Path) -> None:
        subprocess.run([*self._command, "-o", output, *arguments, "-lm"], check=True)

    def check(self, lowered: Lowered, samples: Sequence[Sequence[torch.Tensor]]) -> None:
        """Run float samples in [N, C, H, W], in the fastest plan and in the smallest, if different.

        Every other model runs with row-by-row input. Raise AssertionError if a bit differs from the
        reference.
        """
        self.check_pte(lowered.pte, make_vectors(lowered, samples))

    def check_pte(self, pte: bytes, arrays: dict[str, AnyArray]) -> None:
        """Run a model's inputs likewise; `arrays` also has the reference's outputs."""
        board = sample_board(arena=(1 << 22,), weights=1 << 24)
        program = read_program(pte)
        has_rows = [row_count(port.value.shape) > 1 for port in program.inputs] == [True]
        streamed = has_rows and len(program.calls) % 2 == 0
        fast, small = make_plan(program, board), make_plan(program, board, "memory", streamed)
        self._run(fast, arrays)
        if streamed or small.arena_bytes < fast.arena_bytes:
            self._run(small, arrays)

    def _run(self, plan: Plan, arrays: dict[str, AnyArray]) -> None:
        header = f"{_NAME}.h"
        texts = {
            header: emit_header.header(plan, _NAME),
            f"{_NAME}.c": emit_c.source(plan, _NAME, header),
            "vectors.c": vectors.source(arrays, plan_json(plan, _NAME), header),
        }
        for name, text in texts.items():
            (self._folder / name).write_text(text)
        program = self._folder / "program"
        sources = [self._folder / name for name in texts if name.endswith(".c")]
        self._compile(*sources, *self._objects, output=program)
        run = subprocess.run(
            [program], capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        assert run.returncode == 0 and run.stdout.endswith("PL:PASS\n"), run.stdout + run.stderr
