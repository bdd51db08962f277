# SPDX-License-Identifier: Apache-2.0
"""Mutation test for the write order of Helium and DSP kernels. Only boards run these kernels.

    tools/bazel run //tools/ci:order_mutants

Each bug processes the pixels in another order. Its result is the same unless the output aliases the
input. The cases at exactly the alias distance must fail, and no others. The program builds and runs
them in a copy of the sources, with its own Bazel.
"""

from tools.text.signal_handling import run_main

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from absl import app

from tools.lint.workspace import source_files, workspace_root

_TESTS_FAILED = 3
"""Bazel's exit status."""


@dataclass(frozen=True)
class OrderMutant:
    """Another order in a source below kernels/. Each first text occurs once and is replaced by the
    second. The cases of `op` run on `board`.
    """

    op: str
    board: str
    file: str
    changes: tuple[tuple[str, str], ...]


MUTANTS = (
    OrderMutant(
        "depthwise_conv2d",
        "corstone300",
        "depthwise_conv2d/depthwise_direct_s8_mve.c",
        (
            (
                "      output = convolve_window(of, params, data, channels, first, output);",
                "const int32_t to = 2 * count - 1 - of->count;\n"
                "convolve_window(of, params, data, channels, first + to * of->step,\n"
                "output + to * channels);\n"
                "output += channels;",
            ),
        ),
    ),
    OrderMutant(
        "conv2d",
        "corstone300",
        "conv2d/blocks_mve.h",
        (
            (
                "  for (int32_t oy = 0; oy < dims->output_h; ++oy) {",
                "  output += (dims->output_h - 1) * dims->output_w * dims->output_c;\n"
                "  for (int32_t oy = dims->output_h - 1; oy >= 0; --oy) {",
            ),
            (
                "    output += dims->output_w * dims->output_c;\n  }",
                "    output -= dims->output_w * dims->output_c;\n  }",
            ),
        ),
    ),
    OrderMutant(
        "depthwise_conv2d",
        "mps2_an386",
        "depthwise_conv2d/depthwise_by_4_s8_dsp.c",
        (
            (
                "const int32_t x = ox * params->stride_w",
                "const int32_t x = (dims->output_w - 1 - ox) * params->stride_w",
            ),
            (
                "twice_zero_point_and_1, output);\n        output += channels;",
                "twice_zero_point_and_1,\n"
                "output + (dims->output_w - 1 - 2 * ox) * channels);\n        output += channels;",
            ),
        ),
    ),
    OrderMutant(
        "linear",
        "mps2_an386",
        "linear/linear_pairs_s8_dsp.c",
        (
            (
                "  int32_t rows = dims->rows;\n",
                "  int32_t rows = dims->rows;\n"
                "  const int32_t most = rows / PL_PAIRS_ROWS * PL_PAIRS_ROWS;\n"
                "  x += (most - PL_PAIRS_ROWS) * depth;\n"
                "  y += (most - PL_PAIRS_ROWS) * channels;\n",
            ),
            ("x += PL_PAIRS_ROWS * depth;", "x -= PL_PAIRS_ROWS * depth;"),
            ("y += PL_PAIRS_ROWS * channels;", "y -= PL_PAIRS_ROWS * channels;"),
            (
                "  for (; rows > 0; --rows) {",
                "  x = data->input + most * depth;\n  y = data->output + most * channels;\n"
                "  for (; rows > 0; --rows) {",
            ),
        ),
    ),
)


class Copy:
    """A copy of the sources."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._source = folder / "source"
        for name in source_files(root, ["*"]):
            (self._source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, self._source / name)

    def bazel(self, *arguments: str) -> tuple[int, str]:
        """Return the exit status and the output."""
        run = subprocess.run(
            ["tools/bazel", *arguments],
            cwd=self._source,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return run.returncode, run.stdout

    def failing_cases(self, mutant: OrderMutant) -> list[str]:
        """Return the names of the cases failing with a mutant."""
        path = self._source / "kernels" / mutant.file
        before = text = path.read_text()
        for old, new in mutant.changes:
            assert text.count(old) == 1, f"{mutant.file}: {old!r} occurs not once"
            text = text.replace(old, new)
        path.write_text(text)
        target = f"//kernels/{mutant.op}:{mutant.op}_test.on_boards.{mutant.board}"
        status, printed = self.bazel("test", "--jobs=1", "--test_output=errors", target)
        path.write_text(before)
        if status not in (0, _TESTS_FAILED):
            raise SystemExit(f"{target} does not build with a mutant of {mutant.file}:\n{printed}")
        return re.findall(r"^(.+?): element \d+", printed, re.MULTILINE)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    copy = Copy(folder, workspace_root())
    wrong = 0
    try:
        for mutant in MUTANTS:
            cases = copy.failing_cases(mutant)
            over = [case for case in cases if ", over " in case]
            wrong += not over or over != cases
            print(f"{mutant.file} on {mutant.board}: {len(cases)} cases fail, {len(over)} of these")
            print(f"  with the result over an input, such as {over[0] if over else '-'!r}")
    finally:
        copy.bazel("shutdown")
        shutil.rmtree(folder)
    if wrong:
        raise SystemExit(f"{wrong} mutants were not detected, or differ without an overlap")


if __name__ == "__main__":
    run_main(main)
