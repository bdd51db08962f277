# SPDX-License-Identifier: Apache-2.0
"""Checks of a model: of the nn.Module before export, and of the exported program.

Anything unsupported raises a LoweringError with a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

import torch
from torch.export import ExportedProgram
from torch.export.unflatten import UnflattenedModule
from torch.nn.parameter import is_lazy

from aot.accept.program import tensor_names
from aot.dialect.quantization import WHOLE_NUMBERS
from aot.errors import (
    GIVE_SIZES,
    NO_FIXED_SHAPE,
    LoweringError,
    describe,
    problem_at,
    written_as,
)
from aot.passes.aten.constants.narrow_constants import NARROW
from aot.upstream.torch import is_traceable_wrapper_subclass, tree_leaves
from aot.upstream.torch_export import StatefulGraphModule
from kernels.common.tensor import MAX_RANK

_aten = torch.ops.aten

_SIZED = {
    _aten.bincount.default: "(i[:, None] == torch.arange(n)).to(torch.float32).sum(0), of n bins"
}
"""Replacements for ops with data-dependent result sizes."""

UNQUANTIZED = (torch.int32, torch.int64, torch.bool)
"""Dtypes of inputs without numbers to calculate with: indices (int32 on the device) and masks."""


_QUANTIZED = re.compile(r"torch\.ao\.nn\.(\w+\.)?quantized\b")
"""Modules with torch's own quantized layers."""

_IS_AO = re.compile(r"torch\.ao\.quantization\b|torchao\.quantization\b")

_FLOAT = ("FloatFunctional", "FXFloatFunctional")
"""Other classes of those modules: they compute in float, and torch.ao.nn.quantizable uses them."""


_PT2E = re.compile(r"(torch\.ops\.)?(quantized_decomposed|torchao)\.(de)?quantize")
"""Ops that convert_pt2e inserts into a model."""

_REPLACED = {
    torch.nn.CrossMapLRN2d: (
        "torch.export does not read its code. Replace it by nn.LocalResponseNorm with the same "
        "arguments. Results differ only near the first channel, which CrossMapLRN2d keeps in all "
        "windows."
    ),
}
"""Layers without an export, and their replacements."""

_OBSERVING = {"FakeQuantizeBase": "a fake quantizer", "HistogramObserver": "an observer"}
"""Classes of torch.ao and torchao; other observers change nothing."""


def _observing(kind: type) -> str | None:
    known = (
        _OBSERVING.get(base.__name__) for base in kind.__mro__ if _IS_AO.match(base.__module__)
    )
    return next(filter(None, known), None)


def _is_exported(module: torch.nn.Module) -> bool:
    """Return True if a module comes from an exported program. Its mode is fixed at export."""
    return isinstance(module, (StatefulGraphModule, UnflattenedModule))


def check_module(model: object) -> None:
    if not isinstance(model, torch.nn.Module):
        instead = (
            f"make one: {model.__name__}(...)"
            if isinstance(model, type) and issubclass(model, torch.nn.Module)
            else "an nn.Module whose forward calls it"
            if callable(model)
            else "load these weights into the nn.Module: model.load_state_dict(...)"
            if isinstance(model, Mapping)
            else "load the nn.Module from the file: torch.load(...), or torch.export.load(...)"
            if isinstance(model, str | PurePath)
            else "an nn.Module"
        )
        raise LoweringError(
            f"model must be a torch.nn.Module or an exported program; got {describe(model)}.\n"
            f"    instead: {instead}"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise LoweringError(
            "the model is TorchScript; torch.export cannot read it. Pass the original nn.Module."
        )
    for name, part in model.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise LoweringError(
                f"{name} of the model is TorchScript; torch.export cannot read it. Replace it by "
                "the original nn.Module."
            )
        kind = type(part)
        if observer := _observing(kind):
            raise LoweringError(
                f"{name or 'the model'} is a {kind.__name__} ({observer} of "
                "torch.ao.quantization). Pass the float model without it: lowering adds its own "
                "observers."
            )
        if _QUANTIZED.match(kind.__module__) and kind.__name__ not in _FLOAT:
            raise LoweringError(
                f"{name or 'the model'} is a {kind.__name__}, which is quantized already. Pass "
                "the float model that it was made from."
            )
        if kind in _REPLACED:
            raise LoweringError(f"{name or 'the model'} is a {kind.__name__}. {_REPLACED[kind]}")
    if isinstance(model, torch.fx.GraphModule):
        check_float(model.graph)
    if isinstance(model, torch.nn.DataParallel):
        raise LoweringError(
            "the model is DataParallel, which splits batches between devices. Pass its .module."
        )
    exported = {part for m in model.modules() if _is_exported(m) for part in m.modules()}
    parts = [(name, m) for name, m in model.named_modules() if m not in exported]
    training = [name or "the model" for name, m in parts if m.training]
    if training:
        shown = ", ".join(training[:3])
        how = "Call .eval() first."
        if exported:  # its eval() raises an error
            how = "Set part.training = False for each part of model.modules()."
        raise LoweringError(
            f"the model is in training mode ({shown}). {how} BatchNorm and Dropout work "
            "differently in inference."
        )
    check_weights(dict([*model.named_parameters(), *model.named_buffers()]))


def check_float(graph: torch.fx.Graph) -> None:
    """Raise LoweringError for a graph that convert_pt2e has quantized."""
    found = [node for node in graph.nodes if _PT2E.match(str(node.target))]
    if found:
        raise LoweringError(
            f"the model is quantized already ({found[0].target}, written by convert_pt2e). Pass "
            "the float model that it was made from."
        )


def check_weights(weights: Mapping[str, object]) -> None:
    for name, tensor in weights.items():
        if not isinstance(tensor, torch.Tensor):
            continue
        if is_lazy(tensor):
            raise LoweringError(
                f"weight {name} has no shape yet. Call the model once on an example input."
            )
        if tensor.is_meta:
            raise LoweringError(
                f"weight {name} ({describe(tensor)}) is on device meta and has no values. Call "
                "model.load_state_dict(checkpoint, assign=True), or create the model on the CPU."
            )
        if tensor.device.type != "cpu":
            raise LoweringError(
                f"weight {name} ({describe(tensor)}) is on device {tensor.device}. Move the model "
                "with .cpu()."
            )
        if tensor.is_inference() and tensor.requires_grad:
            raise LoweringError(
                f"weight {name} was created in torch.inference_mode(), which torch.export does "
                "not accept. Create the model outside of it, or in torch.no_grad()."
            )
        is_wrapper: bool = is_traceable_wrapper_subclass(tensor)
        if is_wrapper:
            raise LoweringError(
                f"weight {name} is a {type(tensor).__name__}, not a plain tensor. Pass the float "
                "model from before torchao's quantize_ (or whatever created such weights)."
            )
        if tensor.layout is not torch.strided or tensor.is_quantized:
            raise LoweringError(
                f"weight {name} is {_kind_of(tensor)}. Pass dense float weights "
                f"({_as_dense(tensor)}); lowering quantizes them to int8."
            )
        is_trained = isinstance(tensor, torch.nn.Parameter)
        taken = (torch.float32,) if is_trained else (torch.float32, *NARROW)
        if tensor.is_floating_point() and tensor.dtype not in taken:
            raise LoweringError(
                f"weight {name} is {describe(tensor)}; float32 is expected. Call .float() on the "
                "model; lowering quantizes weights to int8."
            )
        # Minus infinity in an untrained tensor belongs to a mask.
        finite = torch.isfinite(tensor)
        if tensor.is_floating_point():
            finite |= torch.isneginf(tensor) & (not is_trained)
        if tensor.is_floating_point() and not bool(finite.all()):
            bad = int((~finite).sum())
            raise LoweringError(
                f"weight {name} ({describe(tensor)}) holds {bad} values that are NaN or infinite. "
                "Check the training run or the checkpoint."
            )


def check_signature(program: ExportedProgram, example_inputs: Sequence[torch.Tensor]) -> None:
    """Raise LoweringError unless the program takes the example's inputs, in the example's order."""
    inputs = tensor_names(program)
    if len(inputs) != len(example_inputs):
        raise LoweringError(
            f"the program takes {len(inputs)} inputs, but example_inputs has {len(example_inputs)}."
        )
    placeholders = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
    for position, (name, example) in enumerate(zip(inputs, example_inputs, strict=True)):
        value = placeholders[name].meta["val"]
        if isinstance(value, torch.Tensor) and describe(value) != describe(example):
            raise LoweringError(
                f"example_inputs: input {position} is {describe(example)}, but the program was "
                f"exported with {describe(value)}."
            )


def check_inputs(program: ExportedProgram) -> None:
    names = tensor_names(program)
    for node in program.graph.nodes:
        if node.op != "placeholder" or node.name not in names:
            continue
        value = node.meta["val"]
        dynamic = [i for i, size in enumerate(value.shape) if not isinstance(size, int)]
        if dynamic:
            raise LoweringError(
                f"input {node.name} has dynamic dimensions {dynamic}. Memory is planned ahead of "
                "time: export with fixed shapes (without dynamic_shapes)."
            )
        if value.numel() == 0 or value.dim() > MAX_RANK:
            raise LoweringError(
                f"input {node.name} is {describe(value)}. An input needs at least one element and "
                f"at most {MAX_RANK} dimensions."
            )
        if value.dtype not in (torch.float32, *WHOLE_NUMBERS, *UNQUANTIZED):
            instead = "x.to(torch.float32)"
            if value.is_complex():
                instead = "torch.view_as_real(x), and torch.view_as_complex in forward"
            elif not value.is_floating_point():
                instead = (
                    "x.to(torch.int32), or x.to(torch.float32) with the scale used in training"
                )
            raise LoweringError(
                f"input {node.name} is {describe(value)}, which is not supported. Inputs may be "
                "float32 (lowered to int8), integer data (uint8, int8 or int16: unchanged), "
                "indices (int32, or int64: lowered to int32), or masks (bool).\n"
                f"    instead: {instead}"
            )


def check_shapes(program: ExportedProgram) -> None:
    """Raise LoweringError if a value's shape depends on other values."""
    for node in program.graph.nodes:
        tensors = [v for v in tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
        if any(not isinstance(size, int) for value in tensors for size in value.shape):
            raise LoweringError(
                "the model has values without a fixed shape:",
                [problem_at(node, NO_FIXED_SHAPE, _SIZED.get(node.target, GIVE_SIZES))],
            )


def check_dense(program: ExportedProgram) -> None:
    """Raise LoweringError if a value is sparse or already quantized."""
    for node in program.graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            if not isinstance(value, torch.Tensor):
                continue
            if value.layout is torch.strided and not value.is_quantized:
                continue
            reason = f"it is {_kind_of(value)}"
            raise LoweringError(
                "the model has values of a kind that the device does not support:",
                [problem_at(node, reason, f"a dense value of float32, {_as_dense(value)}")],
            )


def _kind_of(tensor: torch.Tensor) -> str:
    return "quantized already" if tensor.is_quantized else f"of layout {tensor.layout}"


def _as_dense(tensor: torch.Tensor) -> str:
    return ".dequantize()" if tensor.is_quantized else ".to_dense()"


def check_decomposed(program: ExportedProgram) -> None:
    """Raise LoweringError for an op with a wrong decomposition in torch."""
    for node in program.graph.nodes:
        if "multilabel_margin_loss" in str(node.meta.get("torch_fn")):
            raise LoweringError(
                "the model computes a loss (multilabel_margin_loss):",
                [
                    problem_at(
                        node,
                        "torch's decomposition also counts the labels after the first -1, as if "
                        "they were label 0",
                        "return the loss function's input as the model's output",
                    )
                ],
            )


def check_effects(program: ExportedProgram) -> None:
    for node in list(program.graph.nodes):
        if node.target is _aten._assert_tensor_metadata.default:
            continue  # shapes, dtypes and devices are static
        if node.target is _aten._assert_async.msg and written_as(node) == "one_hot":
            program.graph.erase_node(node)  # an index outside gives a row of zeros
            continue
        if "assert" in str(node.target):
            raise LoweringError(
                f"the model checks its data at run time ({node.target}). The device does not run "
                "such checks; move them out of forward."
            )
