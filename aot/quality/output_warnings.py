# SPDX-License-Identifier: Apache-2.0
"""Warnings about a model's outputs on the samples of the measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch.fx import Node

from aot.quality.decibels import MIN_SQNR_DB, in_decibels
from aot.quality.finding import FEW_SAMPLES, Finding, finding_at, name_of
from aot.quality.outputs import Output

_BY_CHANCE = 2.0
"""A deviation up to this many sigma above the expected value may be chance."""

_FLAT_DB = -20.0
"""Variation between samples below this level, a tenth of the signal's size, counts as
hardly any.
"""


def of_outputs(
    outputs: Sequence[Output], nodes: Mapping[str, Node], made_up: bool
) -> list[Finding]:
    """Return warnings about outputs with values beyond every range, or mostly constant outputs.

    The second kind is close to float only because of a part that is the same in all samples.
    Classes are exempt: their agreement shows such a case.

    Args:
      outputs: measured.
      nodes: of the float graph, which computes them, by name.
      made_up: the samples look like noise. A network returns much the same for all noise.
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
    """Return warnings about rows of scores that are nearly equal for all samples.

    Such samples are unlike the training data, e.g. images in 0..1/255. The scores come from the
    biases.

    Args:
      outputs: measured.
      nodes: of the float graph, which computes them, by name.
      different: how many of the samples differ from each other.
      samples: description of the measured samples, for messages.
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
    """Return warnings about outputs that are equal in float for all inputs.

    The cause is nearly always a layer of zeros, or one that saturates. int8 is as good as float
    then.

    Args:
      outputs: measured.
      nodes: of the float graph, which computes them, by name.
      different: how many of the samples differ from each other.
      samples: description of the measured samples, for messages.
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
    """Return a warning if the labels look wrong, else None.

    This is the case if the float model is right no more often than a random choice with the same
    class frequencies.

    Args:
      outputs: measured.
      labels: int64, of each sample.
      samples: description of the measured samples, for messages.
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
    """Return warnings about outputs with the same choice in all samples. Others are untested.

    Args:
      outputs: measured.
      nodes: of the float graph, which computes them, by name.
      different: how many of the samples differ from each other.
      samples: description of the measured samples, for messages.
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
