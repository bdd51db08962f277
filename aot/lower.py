# SPDX-License-Identifier: Apache-2.0
"""`lower`: from nn.Module and calibration data to a .pte, a report and a bit-exact reference."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import torch
from absl import logging
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from aot.accept.calibration import calibrate
from aot.accept.export import export_aten
from aot.accept.gc_pause import gc_paused
from aot.accept.inputs import Inputs
from aot.accept.internal_error import internal_errors_named
from aot.accept.torch_compile import original, without_torch_compile
from aot.artefact.artefact import Artefact
from aot.artefact.artefact import export as export_artefact
from aot.artefact.border import with_border
from aot.artefact.report import make_report
from aot.backends.npus import CUT, REQUIRED
from aot.backends.target import Target
from aot.dialect.graph import copied, initial_state
from aot.dialect.quantization import Quantization
from aot.dialect.reference import Reference
from aot.dialect.verifier import verify
from aot.options import GROUPS, Io, Measure, Quantize, grouped
from aot.partition.partition import partition
from aot.passes.aten.channels.equalize_channels import equalize_channels
from aot.passes.aten.constants.merge_dequantizes import merge_dequantizes
from aot.passes.aten.floats.float_forms import float_forms
from aot.passes.aten.recurrent.float_recurrent import float_recurrent
from aot.passes.aten.recurrent.recurrent_states import convert_states
from aot.passes.fold_qdq import fold_qdq
from aot.pte.writer import write_pte
from aot.quality.assess import Graphs, assess
from aot.quality.evaluation import HeldOut, held_out
from aot.quality.float_model import FloatModel
from aot.quality.mask_warnings import check_mask_inputs
from aot.quality.quality import Quality
from aot.quality.watch import Watch
from aot.quantizer.bias_correction import correct_biases
from aot.quantizer.first_input import check_first_input, output_quantization
from aot.quantizer.quantizer import Int8Quantizer
from aot.quantizer.recipe import FLOAT, Recipe
from aot.quantizer.third_party import (
    Composed,
    ThirdPartyQuantizer,
    check_third_party,
    take_third_party,
)
from aot.quantizer.training import Batches, train_prepared
from aot.rules.function import split_functions
from aot.rules.integers import whole_quantization
from aot.support.support import check_supported, warn_of_losses
from aot.targets import target_named
from aot.upstream.lazy_codegen import lazy_codegen
from aot.upstream.names import names_counted
from aot.upstream.quiet import notices_hidden
from aot.upstream.torchao import convert_pt2e, prepare_pt2e

_P = ParamSpec("_P")
_T = TypeVar("_T")
_QUANTIZE, _IO, _MEASURE = Quantize(), Io(), Measure()


@dataclass(frozen=True, repr=False)
class Lowered(Artefact):
    """A lowered PyTorch module.

    Attributes:
      floats: the model as a graph, before quantization.
      quantized: torchao's quantized graph, the source of `module`.
      folded: the dialect graph before the layout passes, for comparisons.
      quality: its distance from the float model.
    """

    floats: GraphModule
    quantized: GraphModule
    folded: GraphModule
    quality: Quality


@dataclass(frozen=True)
class _Accepted:
    """Checked arguments of lowering.

    Attributes:
      composed: our quantizer, and the user's if given.
      first_input: required type of the first input; None: any.
    """

    inputs: Inputs
    target: Target
    quantize: Quantize
    recipe: Recipe
    composed: Int8Quantizer | Composed
    first_input: Quantization | None

    def export(self, inputs: Sequence[torch.Tensor]) -> GraphModule:
        """Return the model's ATen graph for inputs of these shapes, ready for quantization."""
        # Copies: where one tensor is given for two inputs, export takes the two for one.
        contiguous = [x.clone(memory_format=torch.contiguous_format) for x in inputs]
        trains = self.quantize.train is not None
        aten = export_aten(self.inputs.model, contiguous, self.target.keeps, trains=trains)
        for change in self.target.rewrites:
            change(aten)
        float_recurrent(aten, self._stays_float)
        convert_states(aten, self._stays_float)
        float_forms(aten, self._stays_float)
        split_functions(aten, self.recipe.quantization.of, self._stays_float)
        in_float = self.quantize.allow_float_fallback
        check_supported(aten, lambda node: in_float or self._stays_float(node))
        if self.quantize.equalize and not equalize_channels(aten):
            logging.warning("equalize changes nothing: no layer's channels go into one other layer")
        return aten

    def _stays_float(self, node: Node) -> bool:
        return self.recipe.quantization.of(node) == FLOAT and whole_quantization(node) is None


@dataclass(frozen=True)
class _Quantized:
    """A model after calibration.

    Attributes:
      aten: the exported graph; its `meta` refers to the user's model.
      graph: torchao's.
      samples: number of calibration samples.
      held: held-out data, or None.
      outputs: float results for the example.
    """

    aten: GraphModule
    floats: GraphModule
    graph: GraphModule
    float_model: FloatModel
    seen: Watch
    samples: int
    held: HeldOut | None
    outputs: list[torch.Tensor]


def _settings_grouped(lowers: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a function: settings of groups are also accepted as arguments, as in 0.2."""

    @functools.wraps(lowers)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        given: dict[str, Any] = grouped(kwargs)
        if alone := [name for name in kwargs if name not in given]:
            groups = " and ".join(f"{n}={GROUPS[n].__name__}(...)" for n in given if n in GROUPS)
            text = f"lower({', '.join(alone)}=...) is deprecated: give {groups}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        return lowers(*args, **given)

    return run


@_settings_grouped
@notices_hidden()
@internal_errors_named
@gc_paused()
@without_torch_compile()
@lazy_codegen()
def lower(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Any,
    *,
    target: str | Target = "cortex-m",
    verify_npu: str = CUT,
    neutron: str = REQUIRED,
    calibration: Iterable[Any],
    quantize: Quantize = _QUANTIZE,
    io: Io = _IO,
    measure: Measure = _MEASURE,
) -> Lowered:
    """Quantize and lower a model, and compare it with the float model.

    Args:
      model: in eval mode.
      example_inputs: one sample (aot/accept/inputs.py): a tensor, a tuple of forward's arguments,
        or a dict of them by name; float32, unchanged numbers of uint8, int8 or int16,
        indices, or masks of booleans. Shapes and memory format are those on the device.
      target: a Target, or a name as in `target_named`, e.g. "cortex-m" or
        "ethos-u55-128"; with "tflite" `exported` is a .tflite file (docs/tflite.md).
      verify_npu: reaction to an Ethos-U program with wrong results: "cut" the part of the model at
        the start of the fault, "fail", or "off" for no check (docs/ethos_u.md).
      neutron: reaction to a missing NXP converter for "imxrt700" and "mcxn947": "required" is an
        error, "auto" runs everything on the CPU (docs/neutron.md).
      calibration: representative samples like the example, or batches of them, with or
        without labels. A model with state needs them in the order on the device, or a list of
        such sequences.
      quantize: the arithmetic of the model.
      io: its inputs and outputs on the device.
      measure: the comparison with the float model, and its limits.

    Settings of the three objects are also accepted by their own names (deprecated).

    Raises:
      LoweringError: lists all problems with their places and remedies. One of them is a large
        difference between the lowered and the float model.
      InternalError: a fault of Pilotlight, with a file to send.
    """
    target = target_named(target, verify_npu, neutron)
    target.check()
    accepted = _accept(original(model), example_inputs, target, quantize, io)
    made = _quantize(accepted, calibration, measure)
    example = accepted.inputs.example

    logging.info("lowering")
    folded = fold_qdq(made.graph, io.float_io)
    verify(folded, "fold_qdq")
    module, moved, shrunk = with_border(folded, example, made.outputs, target, io.io_layout)
    partition(module, target)
    verify(module, "partition")
    exported = export_artefact(module, target)
    pte = write_pte(module, moved)
    logging.info("lowered: %d bytes", len(pte))

    computed, paths = made.aten.meta["computed"], made.aten.meta["paths"]
    graphs = Graphs(made.floats, made.graph, folded, Reference(module), moved, paths)
    quality = assess(
        graphs,
        made.float_model,
        made.seen,
        example,
        made.held,
        measure,
        measure.per_op,
        measure.metric,
    )
    report = make_report(module, target, made.samples, pte, quality, computed, paths, moved, shrunk)
    if accepted.first_input is not None:
        check_first_input(report, accepted.first_input)
    return Lowered(module, moved, pte, report, exported, made.floats, made.graph, folded, quality)


def _accept(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Any,
    target: Target,
    quantize: Quantize,
    io: Io,
) -> _Accepted:
    inputs = Inputs(model, example_inputs, "example_inputs")
    children = model.named_modules() if isinstance(model, torch.nn.Module) else ()
    modules = {path: type(child).__name__ for path, child in children}
    trains = quantize.train is not None
    recipe = Recipe.of(quantize.quantization, quantize.observer, trains, modules)
    first_input = None
    if io.input_from is not None:
        first_input = output_quantization(io.input_from, inputs.example[0])
    ours = Int8Quantizer(target.traits, recipe, first_input)
    given = quantize.quantizer
    composed = ours if given is None else Composed([ThirdPartyQuantizer(given), ours])
    return _Accepted(inputs, target, quantize, recipe, composed, first_input)


def _quantize(accepted: _Accepted, calibration: Iterable[Any], measure: Measure) -> _Quantized:
    inputs, quantize = accepted.inputs, accepted.quantize
    logging.info("exporting")
    aten = accepted.export(inputs.example)
    warn_of_losses(aten)
    float_model = FloatModel(inputs.model, aten.meta["computed"])
    outputs = float_model(inputs.example)
    # Samples in one batch have no order: they are no sequence.
    splits = not initial_state(aten)
    evaluation = measure.evaluation
    has_metric = measure.metric is not None
    held = None if evaluation is None else held_out(evaluation, inputs, splits, has_metric)
    floats = copied(aten)

    with warnings.catch_warnings(), names_counted():
        warnings.simplefilter("ignore")
        prepared = prepare_pt2e(aten, accepted.composed)
        if quantize.quantizer is not None:
            check_third_party(prepared)
        seen = Watch(prepared)
        data = inputs.samples(calibration, "calibration", splits)
        samples = calibrate(prepared, data, inputs.example, seen.sample)
        seen.end()
        if quantize.train is not None:
            logging.info("training")
            batches = Batches(
                lambda x: prepare_pt2e(accepted.export(x), accepted.composed), inputs.of_call
            )
            train_prepared(prepared, floats, batches, quantize.train)
            float_model = FloatModel(floats)
        quantized = convert_pt2e(prepared)
        if quantize.quantizer is not None:
            take_third_party(quantized)
    check_mask_inputs(floats, seen.samples)
    merge_dequantizes(quantized)
    if quantize.correct_bias:
        correct_biases(quantized, floats, seen.samples)
    return _Quantized(aten, floats, quantized, float_model, seen, samples, held, outputs)
