# SPDX-License-Identifier: Apache-2.0
"""Lowers and compiles a group of the corpus into an archive."""

from __future__ import annotations

from tools.imports import imports_that_stay

from pathlib import Path

with imports_that_stay():
    import torch
    from absl import app, flags

    from tests.ethos_u.corpus.archive import Compiled, Lowered, write_archive
    from tests.ethos_u.corpus.graphs import GROUPS
    from tests.ethos_u.corpus.lower import lower_to_tosa
    from tests.ethos_u.corpus.targets import targets
    from tests.ethos_u.corpus.vela import compile_payload

_GROUP = flags.DEFINE_enum("group", None, sorted(GROUPS), "What to lower.", required=True)
_TARGETS = flags.DEFINE_list("targets", [], "accelerator/mode pairs; all without it.")
_GRAPHS = flags.DEFINE_list("graphs", [], "Graphs of the group; all without it.")
_OUTPUT = flags.DEFINE_string("output", None, "The archive.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    pairs = [(a, m) for a, m in (pair.split("/") for pair in _TARGETS.value)] or targets()
    parts = []
    group = GROUPS[_GROUP.value]
    for graph in (group[name] for name in _GRAPHS.value or group):
        for index, tosa in enumerate(lower_to_tosa(graph)):
            compiled = [
                Compiled(accelerator, mode, *compile_payload(tosa, accelerator, mode))
                for accelerator, mode in pairs
            ]
            name = graph.name if index == 0 else f"{graph.name}.{index}"
            parts.append(Lowered(name, tosa, compiled))
    write_archive(Path(_OUTPUT.value), parts)


if __name__ == "__main__":
    app.run(main)
