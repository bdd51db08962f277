# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in what a model gives for the samples that it is measured on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch.fx import Node

from aot.quality.decibels import MIN_SQNR_DB, in_decibels
from aot.quality.finding import FEW_SAMPLES, Finding, finding_at, name_of
from aot.quality.outputs import Output

_BY_CHANCE = 2.0
"""So many standard deviations above what chance gives may be chance, too."""

_FLAT_DB = -20.0
"""What differs between samples by less of the signal, a tenth of its size, hardly differs."""


def of_outputs(
    outputs: Sequence[Output], nodes: Mapping[str, Node], made_up: bool
) -> list[Finding]:
    """Which outputs hold what no range does; and which are near to float only because of what is
    the same in all samples, unless they are classes, whose agreement shows that.

    Args:
      outputs: measured.
      nodes: of the float graph, which gives them, by name.
      made_up: whether the samples look like noise: of such a network gives much the same.
    """
    return [
        finding_at(
            "endless_output",
            nodes[o.name],
            f"{name_of(nodes[o.name])} is infinite or NaN in float in {o.endless} elements of "
            f"{o.samples} samples; its SQNR leaves them out. The device returns the least or the "
            "largest number of its range there. Change the model to return a finite number",
        )
        for o in outputs
        if o.endless
    ] + [
        finding_at(
            "flat_output",
            nodes[o.name],
            f"{name_of(nodes[o.name])} differs little between samples: without each element's "
            f"mean its SQNR is {in_decibels(varying)}, not {in_decibels(o.sqnr_db)}. If it is a "
            "number and not a class, have the device compute the varying part and add the "
            "constant part after it, or run the layers before it in int16",
        )
        for o in outputs
        if not made_up and o.class_dim is None
        if o.sqnr_db is not None and o.samples >= FEW_SAMPLES
        if (varying := o.varying_db) is not None and varying < MIN_SQNR_DB <= o.sqnr_db
    ]


def of_scores(
    outputs: Sequence[Output], nodes: Mapping[str, Node], different: int, samples: str
) -> list[Finding]:
    """Which rows of scores are nearly the same for all samples, and so are none of samples like
    those of training: what the biases give, for one, for images in 0..1/255.

    Args:
      outputs: measured.
      nodes: of the float graph, which gives them, by name.
      different: how many of the samples differ from each other.
      samples: what was measured, for people.
    """
    return [
        finding_at(
            "flat_output",
            nodes[o.name],
            f"{name_of(nodes[o.name])} hardly differs between all {samples} in float: the varying "
            f"part is {-share:.0f} dB below the constant part, and {o.only_score} the largest in "
            "each. For class scores: give samples in the scale and normalisation used in "
            "training. For numbers: have the device compute the varying part and add the "
            "constant part after it",
        )
        for o in outputs
        if different >= FEW_SAMPLES and o.only_score is not None and not o.is_choice
        if (share := o.varying_share_db) is not None and share < _FLAT_DB
    ]


def of_still(
    outputs: Sequence[Output], nodes: Mapping[str, Node], different: int, samples: str
) -> list[Finding]:
    """Which outputs are the same in float whatever the model takes: it is nearly always a layer of
    zeros, or one that saturates; int8 is as good as float then.

    Args:
      outputs: measured.
      nodes: of the float graph, which gives them, by name.
      different: how many of the samples differ from each other.
      samples: what was measured, for people.
    """
    return [
        finding_at(
            "flat_output",
            nodes[o.name],
            f"{name_of(nodes[o.name])} is the same in float in all {samples}, so its SQNR means "
            "nothing. Check that the trained weights are loaded and that samples are in the "
            "scale used in training",
        )
        for o in outputs
        if different >= FEW_SAMPLES and o.is_still and not o.is_choice
    ]


def of_labels(outputs: Sequence[Output], labels: torch.Tensor, samples: str) -> list[Finding]:
    """Whether the right classes are none: the float model is right no more often than one that
    chooses as often what it does, by chance.

    Args:
      outputs: measured.
      labels: int64, of each sample.
      samples: what was measured, for people.
    """
    chosen = [output for output in outputs if output.is_class]
    if not chosen or len(labels) < FEW_SAMPLES or bool((labels == labels[0]).all()):
        return []
    right, _ = chosen[0].accuracy(labels)
    by_chance = chosen[0].accuracy_by_chance(labels)
    deviation = math.sqrt(by_chance * (1.0 - by_chance) / len(labels))
    if right > by_chance + _BY_CHANCE * deviation:
        return []
    text = (
        f"the float model is right in {right:.1%} of {samples}, hardly more than by chance "
        f"({by_chance:.1%}). Check that the classes are in the order of the samples, that they "
        "are counted like the model's, and that the trained weights are loaded"
    )
    return [Finding("doubtful_labels", "", "", "", text)]


def of_choices(
    outputs: Sequence[Output], nodes: Mapping[str, Node], different: int, samples: str
) -> list[Finding]:
    """Which outputs choose the same in all samples, so that nothing is known of the others.

    Args:
      outputs: measured.
      nodes: of the float graph, which gives them, by name.
      different: how many of the samples differ from each other.
      samples: what was measured, for people.
    """
    return [
        finding_at(
            "one_class",
            nodes[o.name],
            f"{name_of(nodes[o.name])} chooses {only} in float in all {samples}, so their "
            "agreement means nothing for other classes. Give samples of each class in random "
            "order, as in training",
        )
        for o in outputs
        if different >= FEW_SAMPLES and (only := o.only_class) is not None
    ]
