# SPDX-License-Identifier: Apache-2.0
"""`lower`: nn.Module and calibration data to a .pte, a report and a bit-exact reference."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from absl import logging
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from aot.calibration import Samples, as_inputs, calibrate
from aot.dialect.graph import border_nodes, edge_of, initial_state, quantization_of
from aot.dialect.verifier import verify
from aot.errors import LoweringError, describe
from aot.export import export_aten
from aot.partition.partition import partition
from aot.passes.aten.merge_dequantizes import merge_dequantizes
from aot.passes.fold_qdq import fold_qdq
from aot.passes.rewrite.border import KEEP, LAYOUTS, TO_NHWC_BORDER, set_border
from aot.passes.rewrite.compose_luts import compose_luts
from aot.passes.rewrite.drop_dead_constants import drop_dead_constants
from aot.passes.rewrite.fold_transpose_into_bmm import fold_transpose_into_bmm
from aot.passes.rewrite.fold_transpose_into_linear import fold_transpose_into_linear
from aot.passes.rewrite.fuse_pad import fuse_pad
from aot.passes.rewrite.merge_gathers import merge_gathers
from aot.passes.rewrite.own_state import own_state
from aot.passes.rewrite.simplify_movement import simplify_movement
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.pte.writer import write_pte
from aot.quantizer.quantizer import Int8Quantizer
from aot.report import make_report
from aot.support import check_supported
from aot.targets import target_named
from aot.targets.target import Target

_REWRITES: tuple[Callable[[GraphModule], int], ...] = (
    sink_transposes,
    fold_transpose_into_linear,
    fold_transpose_into_bmm,
    fuse_pad,
    compose_luts,
    merge_gathers,
    simplify_movement,
    own_state,
    drop_dead_constants,
)


@dataclass(frozen=True)
class Lowered:
    """A lowered model.

    Attributes:
      pte: the ExecuTorch program.
      report: JSON-serialisable: what every op became, and why.
      module: the dialect graph, runnable: int8 in, int8 out (float32 with float I/O).
      quantized: torchao's quantized graph that it was made from.
      folded: the dialect graph before the layout passes, for comparisons.

    The graphs of a model with state take it behind their inputs and give it behind their outputs.
    """

    pte: bytes
    report: dict[str, Any]
    module: GraphModule
    quantized: GraphModule
    folded: GraphModule
    _state: list[torch.Tensor] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Makes the next run of the reference the first: the model's state is the initial one."""
        self._state[:] = initial_state(self.module)

    def quantize_inputs(self, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Float32 inputs as the artefact takes them; inputs of its dtype already pass through.

        Raises:
          ValueError: count, shape or dtype are not the model's.
        """
        return fit_inputs(inputs, border_nodes(self.module)[0])

    def reference(self, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """What every board computes, bit for bit; a model's state is carried from call to call.

        Args:
          inputs: float32 (quantized first) or of the artefact's dtype; shapes as the artefact's
            inputs.
        """
        with torch.no_grad():
            result = self.module(*self.quantize_inputs(inputs), *self._state)
        results = (result,) if isinstance(result, torch.Tensor) else tuple(result)
        outputs = len(results) - len(self._state)
        self._state[:] = results[outputs:]
        return results[:outputs]

    def dequantize_outputs(self, outputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Outputs as float32."""
        _, nodes = border_nodes(self.module)
        return tuple(
            x if (quantization := edge_of(n).quantization) is None else quantization.dequantize(x)
            for x, n in zip(outputs, nodes, strict=True)
        )


def fit_inputs(inputs: Sequence[torch.Tensor], nodes: Sequence[Node]) -> tuple[torch.Tensor, ...]:
    """Inputs as the placeholders take them: float32 is quantized, what fits passes through."""
    if len(inputs) != len(nodes):
        raise ValueError(f"the model takes {len(nodes)} inputs, not {len(inputs)}")
    return tuple(_fit(x, n) for x, n in zip(inputs, nodes, strict=True))


def _fit(x: torch.Tensor, node: Node) -> torch.Tensor:
    value = node.meta["val"]
    if x.shape == value.shape and x.dtype == value.dtype:
        return x
    if x.shape == value.shape and x.dtype == torch.float32:
        return quantization_of(node).quantize(x)
    raise ValueError(f"input {node.name} is {describe(x)}, the model takes {describe(value)}")


def lower(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Sequence[torch.Tensor],
    *,
    target: str | Target = "cortex-m",
    calibration: Samples,
    quantization: str = "int8",
    float_io: bool = False,
    io_layout: str = KEEP,
    allow_float_fallback: bool = False,
) -> Lowered:
    """Quantizes and lowers a model.

    Args:
      model: in eval mode.
      example_inputs: one set of float32 inputs of the shapes and memory format that the device will
        give.
      target: what to lower for: a Target, or a text as `target_named` takes it, e.g. "cortex-m".
      calibration: representative inputs, each a tuple of tensors (or one tensor); of a model with
        state, in the order in which the device will see them, or a list of such sequences.
      quantization: "int8".
      float_io: keep float32 model inputs and outputs; they are quantized on the device.
      io_layout: "keep" the model's own, or "nhwc" for [N, H, W, C] inputs and outputs without a
        copy.
      allow_float_fallback: run ops without an int8 form in float32 on the device; the report lists
        them.

    Raises:
      LoweringError: with all problems found, where they are, and what to do.
    """
    if quantization != "int8":
        raise LoweringError(f"there is no quantization {quantization!r}; there is: int8")
    if io_layout not in LAYOUTS:
        raise LoweringError(
            f"there is no I/O layout {io_layout!r}; there are: {', '.join(LAYOUTS)}"
        )
    if not isinstance(target, Target):
        target = target_named(target)
    example_inputs = as_inputs(example_inputs, "example_inputs")

    logging.info("exporting")
    # Copies: where one tensor is given for two inputs, export takes the two for one.
    contiguous = [x.clone(memory_format=torch.contiguous_format) for x in example_inputs]
    aten = export_aten(model, contiguous, target.keeps)
    check_supported(aten, allow_float_fallback)
    outputs = _output_values(model, example_inputs)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare_pt2e(aten, Int8Quantizer(target.traits))
        samples = calibrate(prepared, calibration, example_inputs)
        quantized = convert_pt2e(prepared)
    merge_dequantizes(quantized)

    logging.info("lowering")
    folded = fold_qdq(quantized, float_io)
    verify(folded, "fold_qdq")
    module = fold_qdq(quantized, float_io)
    set_border(module, example_inputs, outputs, io_layout)
    verify(module, "set_border")
    for rewrite in _REWRITES:
        rewrite(module)
        verify(module, rewrite.__name__)
    partition(module, target)
    verify(module, "partition")
    pte = write_pte(module, io_layout == TO_NHWC_BORDER)
    logging.info("lowered: %d bytes", len(pte))
    report = make_report(module, target.name, samples, pte)
    return Lowered(pte, report, module, quantized, folded)


def _output_values(
    model: torch.nn.Module | ExportedProgram, example_inputs: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """What the user's own model gives, for its outputs' memory format."""
    runnable = model.module(check_guards=False) if isinstance(model, ExportedProgram) else model
    # Copies: the model may write into its inputs, and into its buffers.
    inputs = tuple(x.clone() for x in example_inputs)
    buffers = {name: x.clone() for name, x in runnable.named_buffers()}
    with torch.no_grad():
        results = torch.func.functional_call(runnable, buffers, inputs)
        return torch.utils._pytree.tree_leaves(results)
