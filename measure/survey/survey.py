# SPDX-License-Identifier: Apache-2.0
"""Lowers programs, and reports the outcome of each."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch.fx import Node

from aot.accept.inputs import Inputs
from aot.dialect.graph import border_nodes, edge_of
from aot.dialect.reference import fit_inputs
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.quality.decibels import MIN_SQNR_DB, decibels, power
from aot.quality.float_model import FloatModel
from aot.testing.lockstep import LARGEST, compare
from measure.survey.choices import chooses, given_the_choices
from measure.survey.programs import SurveyProgram

OUTCOMES = ("int8", "partly", "float", "refused", "wrong", "invalid")

_BORDER = ("pl.quantize", "pl.dequantize", "pl.transpose", "pl.reshape")
_RELATIVE = 1e-4  # float32: passes over the float graph sum in another order


@dataclass(frozen=True)
class SurveyRow:
    """Outcome of a program.

    Attributes:
      outcome: one of OUTCOMES. "partly" and "float" occur only on request; otherwise such a
        program is refused. "wrong" are values that no rounding explains, unknown errors in
        lowering, and outputs with less than 10 dB. These dB are against the float model on
        the values held by int8 inputs. If the model makes choices, it gets the same ones,
        each nearly as good as its own. "invalid" is refused by torch itself.
      reason: the reason for an outcome other than int8; "" for int8.
    """

    outcome: str
    reason: str

    def __str__(self) -> str:
        return f"{self.outcome} ({self.reason})" if self.reason else self.outcome


def survey(program: SurveyProgram) -> SurveyRow:
    """Lower a program; where it is refused, with ops in float."""
    try:
        with torch.no_grad():
            program.make()(*program.samples()[0])
    except Exception as error:
        return SurveyRow("invalid", f"torch: {str(error).splitlines()[0]}")
    try:
        return _judged(program, _lowered(program, allow_float_fallback=False), "")
    except LoweringError as error:
        reason = said(error)
    except Exception as error:
        return SurveyRow("wrong", f"{type(error).__name__} is raised")
    try:
        return _judged(program, _lowered(program, allow_float_fallback=True), reason)
    except LoweringError:
        return SurveyRow("refused", reason)
    except Exception as error:
        return SurveyRow("wrong", f"{type(error).__name__} is raised, with ops in float")


def _lowered(program: SurveyProgram, allow_float_fallback: bool) -> Lowered:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = program.samples()
        return lower(
            program.make(),
            samples[0],
            calibration=samples,
            quantize=Quantize(allow_float_fallback=allow_float_fallback),
            measure=Measure(min_sqnr=-math.inf, min_agreement=0.0, per_op=False),
        )


def _judged(program: SurveyProgram, lowered: Lowered, reason: str) -> SurveyRow:
    problem = problem_of(program, lowered)
    if problem:
        return SurveyRow("wrong", problem)
    floats = lowered.report["float_ops"]
    if not floats:
        return SurveyRow("int8", "")
    computing = [op for op in lowered.report["ops"] if op["op"] not in _BORDER]
    return SurveyRow("float" if floats == len(computing) else "partly", reason)


def problem_of(program: SurveyProgram, lowered: Lowered) -> str:
    """Return the problem of a lowered program, step by step; "" if there is none.

    The graphs in between take a state as an input. For a program with state only the ends are
    compared, including state carried from sample to sample, and each op.
    """
    samples = program.samples()
    inputs = Inputs(program.make(), samples[0], program.name)
    tensors = [inputs.tensors(sample, program.name) for sample in samples]
    model = FloatModel(inputs.model, lowered.report["results"])
    floats = None if lowered.report["states"] else FloatModel(lowered.floats)
    nodes, _ = border_nodes(lowered.folded)
    against_model, against_choices = _Ratios(), _Ratios()
    has_choices = floats is not None and chooses(lowered.floats)
    for sample in tensors:
        contiguous = [x.contiguous() for x in sample]
        results = lowered.reference(sample)
        if floats is not None:
            folded = lowered.folded(*fit_inputs(contiguous, nodes))
            problem = _wrong_between(model(sample), floats(contiguous), folded, results)
            if problem:
                return problem
        held = _dequantized(fit_inputs(contiguous, nodes), nodes)
        as_given = [h.to(x.dtype) for h, x in zip(held, sample, strict=True)]
        against_model.add(zip(model(as_given), lowered.dequantize_outputs(results), strict=True))
        if has_choices:
            inputs_held = [x.contiguous() for x in as_given]
            against_choices.add(given_the_choices(lowered.floats, lowered.quantized, inputs_held))
    limits = {"lut int16": _of_lines(lowered), **LARGEST}
    for op, difference in compare(lowered, tensors).by_op.items():
        if difference.largest > limits.get(op, 1):
            return f"{op} is {difference.largest} steps from the float op"
    worst = against_model.worst()
    if worst < MIN_SQNR_DB and has_choices:
        # Among nearly equal values another may be the largest, which is equally right.
        worst = against_choices.worst()
    return f"{worst:.1f} dB of what int8 inputs hold" if worst < MIN_SQNR_DB else ""


def _of_lines(lowered: Lowered) -> float:
    """Return the steps by which lines may miss a function: one of int8, or the number in the
    report.
    """
    named = any(w["kind"] == "missed_lines" for w in lowered.report["warnings"])
    return math.inf if named else 256


class _Ratios:
    """Signal to noise, of each output over all samples."""

    def __init__(self) -> None:
        self._signals: defaultdict[int, float] = defaultdict(float)
        self._noises: defaultdict[int, float] = defaultdict(float)

    def add(self, pairs: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Add the expected and the actual value of each output."""
        for i, (expected, actual) in enumerate(pairs):
            defined = torch.isfinite(expected)
            self._signals[i] += power(expected[defined])
            self._noises[i] += power(actual[defined].double() - expected[defined].double())

    def worst(self) -> float:
        found = (decibels(self._signals[i], self._noises[i]) for i in self._signals)
        return min((sqnr for sqnr in found if sqnr is not None), default=math.inf)


def _wrong_between(
    model: Sequence[torch.Tensor],
    floats: Sequence[torch.Tensor],
    folded: Sequence[torch.Tensor],
    results: Sequence[torch.Tensor],
) -> str:
    """Return a problem if a graph between the model and the lowered one computes other results."""
    for expected, actual in zip(model, floats, strict=True):
        if actual.shape != expected.shape:
            return f"an output is {list(actual.shape)} for {list(expected.shape)}"
        values = actual.double(), expected.double()
        tolerance = _RELATIVE * values[1].nan_to_num().abs().max().item()
        if not torch.allclose(*values, _RELATIVE, tolerance, equal_nan=True):
            return "the float graph is not the model"
    if not all(torch.equal(a, b) for a, b in zip(folded, results, strict=True)):
        return "the layout passes change values"
    return ""


def _dequantized(values: Sequence[torch.Tensor], nodes: Sequence[Node]) -> list[torch.Tensor]:
    """Return the inputs as int8 holds them."""
    found = zip(values, (edge_of(node).quantization for node in nodes), strict=True)
    return [x if q is None else q.dequantize(x) for x, q in found]


def said(error: LoweringError) -> str:
    """Return the first problem, without its place."""
    if error.problems:
        problem = error.problems[0]
        return f"{problem.op}: {problem.reason}"
    return str(error).splitlines()[0]
