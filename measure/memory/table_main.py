# SPDX-License-Identifier: Apache-2.0
"""Prints the memory of networks: the table of docs/memory.md.

tools/bazel run //measure/memory:table -- --isa=mve
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import itertools
from typing import cast

with imports_that_stay():
    import torch
    from absl import app, flags

    from aot.lower import lower
    from aot.options import Io, Measure
    from aot.plan.plan import make_plan
    from aot.plan.pte import read_program
    from aot.plan.sharing import share_memory
    from aot.plan.testing import sample_board
    from kernels.common.kernel import Isa
    from measure.memory.networks import NETWORKS
    from tools.text.table import table

_ISA = flags.DEFINE_enum("isa", "mve", ["scalar", "thumb1", "dsp", "mve"], "Class of cores.")
_ONLY = flags.DEFINE_string("only", "", "Networks with this in their names.")
_SAMPLES = 2


def row(name: str, isa: Isa) -> tuple[str, ...]:
    """Return a network's line."""
    network = NETWORKS[name]
    data = list(itertools.islice(network.calibration(), _SAMPLES))
    lowered = lower(
        network.factory(),
        data[0],
        calibration=data,
        io=Io(io_layout="auto"),
        measure=Measure(min_sqnr=float("-inf"), min_agreement=0.0, per_op=False),
    )
    board = sample_board(arena=(1 << 24,), weights=1 << 24, isa=isa)
    program = read_program(lowered.pte)
    fast, small = (make_plan(program, board, optimize) for optimize in ("speed", "memory"))
    streamed = make_plan(program, board, "memory", streamed=True)
    apart = max(
        sum(value.bytes for value in (*step.reads, *step.writes))
        for step in share_memory(fast.graph).steps
    )
    groups = [step.rows for step in small.sharing.steps if step.rows is not None]
    members = sum(len(group.members) for group in groups)
    return (
        name,
        f"{apart:,}",
        f"{fast.arena_bytes:,}",
        f"{small.arena_bytes:,}",
        f"{streamed.arena_bytes:,}",
        f"{members} of {len(fast.sharing.steps)}",
        f"{sum(group.calls for group in groups):,}",
        f"{sum(group.moved_bytes for group in groups):,}",
    )


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    head = (
        "network",
        "inputs and outputs of a step",
        "arena, speed",
        "memory",
        "input by rows",
        "calls by rows",
        "as calls",
        "bytes moved",
    )
    rows = [row(name, cast(Isa, _ISA.value)) for name in NETWORKS if _ONLY.value in name]
    print(table([head, *rows], "lrrrrrrr"))


if __name__ == "__main__":
    run_main(main)
