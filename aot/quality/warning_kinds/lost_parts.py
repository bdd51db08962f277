# SPDX-License-Identifier: Apache-2.0
"""Parts of an output that are lost next to larger ones, and samples lost next to louder ones.

The SQNR of the whole output does not show them: the large elements have nearly all its energy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch.fx import Node

from aot.quality.decibels import MIN_SQNR_DB
from aot.quality.finding import FEW_STEPS, Finding, finding_at, name_of
from aot.quality.outputs import Output
from aot.quality.remedies import Remedies
from aot.quality.subject import Subject
from aot.quality.tally import PartQuality, Tally

_BELOW_DB = 6.0
"""A part is worse than its output if it has so much less."""

_SAMPLES = 4
"""Least number of samples to judge the variation of a part."""

_MOST_NAMED = 3


def find(subject: Subject) -> Iterator[Finding]:
    """Yield findings for the outputs of real numbers. Rows of probabilities have agreement."""
    nodes = {node.name: node for node in subject.floats.graph.nodes}
    for output in subject.outputs:
        whole = output.sqnr_db
        if whole is None or output.is_choice or output.samples < _SAMPLES:
            continue
        lost = [
            part
            for part in output.tally.by_part()
            if part.varying_db is not None
            if part.least_db < min(MIN_SQNR_DB, whole - _BELOW_DB)
        ]
        if lost:
            yield _of_parts(subject, output, nodes[output.name], lost)
        elif whole >= MIN_SQNR_DB:
            yield from _of_samples(subject, output, nodes[output.name])


def _of_parts(subject: Subject, output: Output, node: Node, lost: Sequence[PartQuality]) -> Finding:
    indices = [part.index for part in lost]

    def worst(tally: Tally) -> float:
        parts = tally.by_part()
        return min(parts[i].least_db for i in indices)

    parts = output.tally.parts
    assert parts is not None
    named = ", ".join(part.name for part in lost[:_MOST_NAMED])
    more = ", ..." if len(lost) > _MOST_NAMED else ""
    many = f"{len(lost)} of {len(parts.names)} parts"
    levels = sorted(part.least_db for part in lost)
    have = f"has {levels[0]:.1f} dB"
    if len(lost) > 1:
        have = f"have {levels[0]:.1f} to {levels[-1]:.1f} dB"
    how = "outputs of their own" if parts.joined else "layers and outputs of their own for them"
    told = Remedies(subject, output, worst).told(how)
    return finding_at(
        "lost_channels",
        node,
        f"{name_of(node)} has parts of very different scale: {many} ({named}{more}) "
        f"{have}, the output {output.sqnr_db:.1f} dB. {told[0].upper()}{told[1:]}",
    )


def _of_samples(subject: Subject, output: Output, node: Node) -> Iterator[Finding]:
    """Yield a finding if one sample in ten is lost, or one sequence."""
    tally = output.tally
    sequences, samples = tally.by_sequence(), tally.by_sample()
    if sequences is not None:
        found, level, what = sequences, sequences.worst, "sequence"
    elif samples is not None and tally.elements >= FEW_STEPS:
        found, level, what = samples, samples.decile, "sample"
    else:  # a single number near 0 has little SQNR, and no error
        return
    if level >= MIN_SQNR_DB:
        return

    def quiet(tally: Tally) -> float:
        spread = tally.by_sample()
        return 0.0 if spread is None else spread.decile

    told = Remedies(subject, output, quiet).told()
    yield finding_at(
        "lost_samples",
        node,
        f"{name_of(node)} loses quiet samples next to loud ones: its SQNR is {output.sqnr_db:.1f} "
        f"dB, but {level:.1f} dB in {'the worst' if what == 'sequence' else 'one'} {what}"
        f"{'' if what == 'sequence' else ' of ten'}; the worst is {what} {found.index} with "
        f"{found.worst:.1f} dB. Bring samples to one level before the model. {told[0].upper()}"
        f"{told[1:]}, for one sample of ten",
    )
