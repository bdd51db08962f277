# SPDX-License-Identifier: Apache-2.0
"""`lower`: nn.Module and calibration data to a .pte, a report and a bit-exact reference."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from absl import logging
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from aot.accept.calibration import calibrate
from aot.accept.export import export_aten
from aot.accept.garbage import older_objects_left
from aot.accept.inputs import Inputs
from aot.accept.internal_error import internal_errors_named
from aot.accept.uncompiled import original, uncompiled
from aot.artefact.artefact import Artefact, rewrite
from aot.artefact.artefact import export as export_artefact
from aot.artefact.report import make_report
from aot.backends.npus import CUT, REQUIRED
from aot.backends.target import Target
from aot.dialect.graph import copied, initial_state
from aot.dialect.moved import Moved
from aot.dialect.reference import Reference
from aot.dialect.verifier import verify
from aot.errors import LoweringError, describe
from aot.partition.partition import partition
from aot.passes.aten.channels.equalize_channels import equalize_channels
from aot.passes.aten.constants.merge_dequantizes import merge_dequantizes
from aot.passes.aten.floats.float_forms import float_forms
from aot.passes.aten.recurrent.float_recurrent import float_recurrent
from aot.passes.aten.recurrent.recurrent_states import convert_states
from aot.passes.fold_qdq import fold_qdq
from aot.passes.rewrite.border import (
    AUTO,
    KEEP,
    LAYOUTS,
    TO_NHWC_BORDER,
    images_moved,
    set_border,
    transposed_at_border,
    transposed_elements,
)
from aot.pte.writer import write_pte
from aot.quality.assess import Graphs, assess
from aot.quality.decibels import MIN_SQNR_DB
from aot.quality.evaluation import Evaluation, held_out
from aot.quality.float_model import FloatModel
from aot.quality.given_masks import check_given_masks
from aot.quality.quality import Limits, Quality
from aot.quality.watch import Watch
from aot.quantizer.bias_correction import correct_biases
from aot.quantizer.first_input import check_first_input, output_quantization
from aot.quantizer.others import Composed, Other, check_others, take_others
from aot.quantizer.quantizer import Int8Quantizer
from aot.quantizer.recipe import FLOAT, Recipe
from aot.quantizer.training import Batches, Train, train_prepared
from aot.rules.function import split_functions
from aot.rules.integers import whole_quantization
from aot.support.support import check_supported, warn_of_losses
from aot.targets import target_named
from aot.upstream.compiled_when_run import compiled_when_run
from aot.upstream.names import names_counted
from aot.upstream.quiet import notices_hidden
from aot.upstream.torchao import Quantizer, convert_pt2e, prepare_pt2e


@dataclass(frozen=True, repr=False)
class Lowered(Artefact):
    """A lowered module of PyTorch.

    Attributes:
      floats: the model as a graph, before it was quantized.
      quantized: torchao's quantized graph that `module` was made from.
      folded: the dialect graph before the layout passes, for comparisons.
      quality: how far it is from the float model.
    """

    floats: GraphModule
    quantized: GraphModule
    folded: GraphModule
    quality: Quality


@notices_hidden()
@internal_errors_named
@older_objects_left()
@uncompiled()
@compiled_when_run()
def lower(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Any,
    *,
    target: str | Target = "cortex-m",
    verify_npu: str = CUT,
    neutron: str = REQUIRED,
    calibration: Iterable[Any],
    quantization: str | Mapping[str, str] = "int8",
    quantizer: Quantizer | None = None,
    observer: str | Mapping[str, str] = "histogram",
    equalize: bool = False,
    correct_bias: bool = False,
    train: Train | None = None,
    float_io: bool = False,
    io_layout: str = KEEP,
    allow_float_fallback: bool = False,
    evaluation: Evaluation | None = None,
    min_sqnr: float = MIN_SQNR_DB,
    min_agreement: float | None = None,
    per_op: bool = True,
    input_from: Mapping[str, Any] | None = None,
) -> Lowered:
    """Quantizes and lowers a model, and measures it against the float one.

    Args:
      model: in eval mode.
      example_inputs: one sample (aot/accept/inputs.py): a tensor, a tuple of forward's arguments,
        or a dict of them by name; float32, numbers of uint8, int8 or int16 that stay as they are,
        indices, or masks of booleans, of the shapes and memory format that the device will give.
      target: what to lower for: a Target, or a text as `target_named` takes it, e.g. "cortex-m"
        or "ethos-u55-128"; with "tflite" `exported` is a .tflite file (docs/tflite.md).
      verify_npu: what becomes of a part of the model whose program for an Ethos-U does not compute
        what it should: "cut" it where that starts, "fail", or "off": nobody looks
        (docs/ethos_u.md).
      neutron: where NXP's converter, which "imxrt700" and "mcxn947" need, is not installed: it is
        "required", or "auto": everything runs on the CPU (docs/neutron.md).
      calibration: representative samples like the example, or batches of such, with labels or not;
        of a model with state, in the order in which the device will see them, or a list of such
        sequences.
      quantization: "int8", "int16", "int8w4", "int8w4g32" or "float32"; or by layer, {"default":
        "int8", "head": "float32"} (docs/accuracy.md).
      quantizer: torchao's, or your own of its kind: what it annotates stays as it says.
      observer: how calibration becomes ranges: "histogram", "minmax", "moving_average", "mse" or
        "percentile"; or by layer, {"default": "minmax", "features.*": "mse"} (docs/accuracy.md).
      equalize: give the channels between two layers one magnitude first (cross-layer equalization).
      correct_bias: put into the biases what quantization shifts the means of layers by.
      train: quantization-aware training: changes the parameters of the module that it is given, in
        place (docs/qat.md).
      float_io: keep float32 model inputs and outputs; they are quantized on the device.
      io_layout: "keep" the model's own; "nhwc" for [N, H, W, C] inputs and outputs without a copy;
        "auto": so, and [N, L, C], for those that the device would have to transpose otherwise; the
        report says which.
      allow_float_fallback: run ops without an int8 form in float32 on the device; the report lists
        them.
      evaluation: held-out data to measure on: samples as calibration's, or for a classifier of one
        input the inputs [N, ...] and the right classes, int64 [N]. Without it some of the
        calibration samples are taken, which flatter.
      min_sqnr: signal to quantization noise in dB that each output has to reach.
      min_agreement: share of the samples, in [0, 1], for which the class is the float model's. By
        default 0.9, of those that the float model is sure of.
      per_op: measure what each value's quantization costs alone, too; on a few samples.
      input_from: the report of a model whose first output is to be this one's first input as it is:
        that gets the same type, scale and zero point.

    Raises:
      LoweringError: with all problems found, where they are, and what to do; among them that the
        lowered model is too far from the float one.
      InternalError: a fault of Pilotlight, with a file to send.
    """
    if io_layout not in LAYOUTS:
        raise LoweringError(
            f"there is no I/O layout {io_layout!r}; there are: {', '.join(LAYOUTS)}"
        )
    switches = {
        "equalize": equalize,
        "correct_bias": correct_bias,
        "float_io": float_io,
        "allow_float_fallback": allow_float_fallback,
        "per_op": per_op,
    }
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise LoweringError(f"{name} is {value!r:.40}: True or False, for the whole model")
    limits = Limits(min_sqnr, min_agreement)
    if train is not None:
        _check_train(train)
    target = target_named(target, verify_npu, neutron)
    target.check()
    model = original(model)
    inputs = Inputs(model, example_inputs, "example_inputs")
    children = model.named_modules() if isinstance(model, torch.nn.Module) else ()
    modules = {path: type(child).__name__ for path, child in children}
    model, example_inputs = inputs.model, inputs.example

    recipe = Recipe.of(quantization, observer, train is not None, modules)
    first_input = None
    if input_from is not None:
        first_input = output_quantization(input_from, example_inputs[0])
    ours = Int8Quantizer(target.traits, recipe, first_input)
    composed = ours if quantizer is None else Composed([Other(quantizer), ours])

    def stays_float(node: Node) -> bool:
        return recipe.quantization.of(node) == FLOAT and whole_quantization(node) is None

    def export(inputs: Sequence[torch.Tensor]) -> GraphModule:
        # Copies: where one tensor is given for two inputs, export takes the two for one.
        contiguous = [x.clone(memory_format=torch.contiguous_format) for x in inputs]
        aten = export_aten(model, contiguous, target.keeps, trains=train is not None)
        for change in target.rewrites:
            change(aten)
        float_recurrent(aten, stays_float)
        convert_states(aten, stays_float)
        float_forms(aten, stays_float)
        split_functions(aten, recipe.quantization.of, stays_float)
        check_supported(aten, lambda node: allow_float_fallback or stays_float(node))
        if equalize and not equalize_channels(aten):
            logging.warning("equalize changes nothing: no layer's channels go into one other layer")
        return aten

    logging.info("exporting")
    aten = export(example_inputs)
    warn_of_losses(aten)
    computed = aten.meta["computed"]
    float_model = FloatModel(model, computed)
    outputs = float_model(example_inputs)
    # What comes in one batch has no order: it is no sequence.
    splits = not initial_state(aten)
    held = None if evaluation is None else held_out(evaluation, inputs, splits)
    floats = copied(aten)

    with warnings.catch_warnings(), names_counted():
        warnings.simplefilter("ignore")
        prepared = prepare_pt2e(aten, composed)
        if quantizer is not None:
            check_others(prepared)
        seen = Watch(prepared)
        data = inputs.samples(calibration, "calibration", splits)
        samples = calibrate(prepared, data, example_inputs, seen.sample)
        seen.end()
        if train is not None:
            logging.info("training")
            batches = Batches(lambda x: prepare_pt2e(export(x), composed), inputs.of_call)
            train_prepared(prepared, floats, batches, train)
            float_model = FloatModel(floats)
        quantized = convert_pt2e(prepared)
        if quantizer is not None:
            take_others(quantized)
    check_given_masks(floats, seen.samples)
    merge_dequantizes(quantized)
    if correct_bias:
        correct_biases(quantized, floats, seen.samples)

    logging.info("lowering")
    folded = fold_qdq(quantized, float_io)
    verify(folded, "fold_qdq")

    def with_border(moved: Moved) -> GraphModule:
        module = copied(folded)
        set_border(module, example_inputs, outputs, moved)
        verify(module, "set_border")
        rewrite(module, target)
        return module

    moved = images_moved(folded) if io_layout == TO_NHWC_BORDER else Moved()
    module = with_border(moved)
    for found in transposed_at_border(module) if io_layout == AUTO else []:
        other = with_border(found)
        if transposed_elements(other) < transposed_elements(module):
            moved, module = found, other
    partition(module, target)
    verify(module, "partition")
    exported = export_artefact(module, target)
    pte = write_pte(module, moved)
    logging.info("lowered: %d bytes", len(pte))
    paths = aten.meta["paths"]
    graphs = Graphs(floats, quantized, folded, Reference(module), moved, paths)
    quality = assess(graphs, float_model, seen, example_inputs, held, limits, per_op)
    report = make_report(module, target, samples, pte, quality, computed, paths, moved)
    if first_input is not None:
        check_first_input(report, first_input)
    return Lowered(module, moved, pte, report, exported, floats, quantized, folded, quality)


def _check_train(train: object) -> None:
    """Raise LoweringError where a training loop does not take the module that it trains."""
    if not callable(train) or isinstance(train, type):
        raise LoweringError(
            f"train is {describe(train)}: give a function that trains the module it is given"
        )
    with contextlib.suppress(ValueError):  # a function without a signature
        signature = inspect.signature(train)
        try:
            signature.bind(torch.nn.Module())
        except TypeError as error:
            raise LoweringError(
                f"train takes {signature}: give a function of one argument, the module that it "
                "trains"
            ) from error
