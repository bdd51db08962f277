# SPDX-License-Identifier: Apache-2.0
"""Lowers a graph of the corpus to a .pte with ExecuTorch's Ethos-U delegate, for tests of tools."""

from __future__ import annotations

from pathlib import Path

from absl import app, flags

from tests.ethos_u.corpus.graphs import GROUPS
from tests.ethos_u.corpus.lower import lower_to_pte

_GRAPH = flags.DEFINE_string("graph", None, "group/name", required=True)
_ACCELERATOR = flags.DEFINE_string("accelerator", None, "Vela's name for the NPU.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The .pte.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    group, name = _GRAPH.value.split("/")
    pte = lower_to_pte(GROUPS[group][name], _ACCELERATOR.value)
    Path(_OUTPUT.value).write_bytes(pte)


if __name__ == "__main__":
    app.run(main)
