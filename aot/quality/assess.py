# SPDX-License-Identifier: Apache-2.0
"""Compares a lowered model with the float model, and rejects a model with too much error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from absl import logging
from torch.fx import GraphModule

from aot.dialect.graph import initial_state
from aot.dialect.io_layout import IoLayout
from aot.dialect.kind import exact_outputs
from aot.dialect.reference import Reference
from aot.errors import LoweringError
from aot.quality.evaluation import HeldOut, of_held_out
from aot.quality.findings import of_calibration
from aot.quality.float_model import FloatModel
from aot.quality.graph_outputs import outputs_of
from aot.quality.measure import measure
from aot.quality.measured_ranges import of_values
from aot.quality.metric import Metric, Outcomes
from aot.quality.output_warnings import (
    of_choices,
    of_labels,
    of_outputs,
    of_scores,
    of_still,
)
from aot.quality.outputs import Output
from aot.quality.quality import Limits, Quality
from aot.quality.subject import Subject
from aot.quality.values import Values
from aot.quality.warning_kinds import find_warnings
from aot.quality.watch import Watch, content


@dataclass(frozen=True)
class Graphs:
    """The model's graphs at the stages of lowering.

    Attributes:
      floats: before quantization.
      quantized: torchao's.
      folded: the dialect's, in the layout of the user's model.
      lowered: the graph the device computes.
      moved: inputs and outputs of `lowered` that are channels last.
      paths: position of each output in the return value of the user's model
        (aot.accept.program.result_paths).
    """

    floats: GraphModule
    quantized: GraphModule
    folded: GraphModule
    lowered: Reference
    moved: IoLayout
    paths: Sequence[str]


def assess(
    graphs: Graphs,
    float_model: FloatModel,
    seen: Watch,
    example: Sequence[torch.Tensor],
    evaluation: HeldOut | None,
    limits: Limits,
    per_op: bool,
    metric: Metric | None = None,
) -> Quality:
    """Measure a lowered model, log the result and check the limits.

    Args:
      graphs: the model.
      float_model: the user's model before lowering.
      seen: of the calibration data.
      example: the user's example inputs.
      evaluation: data to measure on; None: calibration samples.
      limits: required of the model.
      per_op: measure the cost of each value's quantization. This is always measured
        if a limit is missed.
      metric: the user's, of the outputs.

    Raises:
      LoweringError: the model misses a limit.
    """
    samples = evaluation or HeldOut(seen.samples, is_held_out=False, total=len(seen.inputs))
    logging.info("measuring quality on %s", samples)
    of_classes = bool(limits.min_agreement) or samples.labels is not None
    outputs = outputs_of(graphs.floats, graphs.paths, exact_outputs(graphs.folded), of_classes)
    models = float_model, graphs.floats, graphs.lowered
    if samples.labels is not None:
        _check_classes(samples.labels, outputs, graphs.floats)
    outcomes = Outcomes()
    keep = None if metric is None else outcomes.keep
    measure(outputs, samples.samples, *models, graphs.moved, keep)
    judged = None if metric is None else outcomes.judged(metric, samples.expected)
    if limits.min_agreement and all(output.agreement is None for output in outputs):
        raise LoweringError(
            f"min_agreement is {limits.min_agreement}, but no output of the model is a class: "
            "shape [1, classes], softmax, or integers. Remove min_agreement."
        )
    contiguous = [(starts, [x.contiguous() for x in xs]) for starts, xs in samples.samples]
    values = Values(graphs.quantized, graphs.floats, graphs.folded)
    measured = values.measure(contiguous, per_op)
    findings = of_calibration(seen, graphs.quantized, outputs)
    if evaluation is not None:
        findings += of_held_out(evaluation, seen, bool(initial_state(graphs.floats)))
    doubted = {(finding.kind, finding.value) for finding in findings}
    made_up = evaluation is None and any(finding.kind == "noise" for finding in findings)
    nodes = {node.name: node for node in graphs.floats.graph.nodes}
    findings += of_outputs(outputs, nodes, made_up)
    if samples.labels is not None:
        findings += of_labels(outputs, samples.labels, str(samples))
    if not initial_state(graphs.floats):  # neighbours of a sequence are alike
        different = len({content(inputs) for _, inputs in samples.samples})
        findings += of_choices(outputs, nodes, different, str(samples))
        if not made_up:
            findings += of_scores(outputs, nodes, different, str(samples))
            findings += of_still(outputs, nodes, different, str(samples))
    count = values.ranged
    some = f"{count} of {samples}" if len(samples.samples) > count else str(samples)
    subject = Subject(
        floats=graphs.floats,
        quantized=graphs.quantized,
        folded=graphs.folded,
        float_model=float_model,
        seen=seen,
        example=example,
        samples=samples.samples,
        described=some,
        outputs=outputs,
        values=measured,
    )
    new = [*of_values(measured, outputs, some), *find_warnings(subject)]
    findings += [finding for finding in new if (finding.kind, finding.value) not in doubted]
    quality = Quality(samples, outputs, measured, findings, limits, judged)
    for finding in findings:
        logging.warning("%s", finding)
    for line in quality.lines():
        logging.info("%s", line)
    if quality.failures() and not per_op:
        quality = replace(quality, values=values.measure(contiguous))
    quality.check()
    return quality


def _check_classes(labels: torch.Tensor, outputs: Sequence[Output], floats: GraphModule) -> None:
    """Raise LoweringError if a label exceeds the number of classes."""
    rows = [o for o in outputs if o.is_class and o.is_float and o.class_dim is not None]
    if not rows or not len(labels):
        return
    (node,) = (n for n in floats.graph.nodes if n.name == rows[0].name)
    count = node.meta["val"].shape[rows[0].class_dim]
    strange = labels[(labels < 0) | (labels >= count)]
    if len(strange):
        raise LoweringError(
            f"{len(strange)} of the evaluation data's {len(labels)} classes are outside of 0 to "
            f"{count - 1}, the classes of {rows[0]}. The first is {int(strange[0])}. Count "
            "classes from 0, and leave out samples without a class."
        )
