# SPDX-License-Identifier: Apache-2.0
"""Applies third-party quantizers, as far as the device supports their requests.

- Activations are int8, or int16 around zero, with one scale for a value.
- Weights are int8 around zero, with one scale for each channel or one for all.
- Biases are free, because lowering makes its own from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.cortex_m import has_float_kernel
from aot.dialect.graph import tensor_constant
from aot.dialect.qdq import DEQUANTIZE, QUANTIZE, stays_float
from aot.dialect.quantization import (
    ACTIVATION_TYPES,
    INT4_GROUPS_WEIGHT,
    INT4_WEIGHT,
    INT8,
    INT8_WEIGHT,
)
from aot.dialect.results import is_result
from aot.dialect.rule import Carries, Integers, Rule, Shares
from aot.errors import LoweringError, Problem, describe, problem_at, written_as
from aot.rules import fused_clamp, rule_for
from aot.rules.four_bits import has_four_bit_form
from aot.rules.unary import Unary
from aot.rules.weights import channel_axis
from aot.upstream.torchao import (
    ComposableQuantizer,
    PerChannelMinMaxObserver,
    QuantizationAnnotation,
    Quantizer,
)

KEY = "quantization_annotation"  # torchao's, in a node's meta

_PER_CHANNEL = torch.ops.quantized_decomposed.dequantize_per_channel.default
_HINT = (
    "int8 of -128 to 127, or int16 of -32768 to 32767 with zero_point 0, one scale for a value; "
    "weights of int8 of -127 to 127 with zero_point 0, of linear layers also of -7 to 7; or leave "
    "the op to Pilotlight's quantizer"
)


_WRITTEN = ("nn_module_stack", "source_fn_stack", "torch_fn")  # metadata of the user's code

_OF_ANOTHER = "of_another_quantizer"
"""Key in the meta of nodes annotated by another quantizer. Its value: they have a float kernel."""

REFUSED = "the quantizer asks for what the device does not have:"


class Composed(ComposableQuantizer):  # type: ignore[misc]
    """Several quantizers, applied in order.

    At the end each validates the graph; torchao's class skips this.
    """

    def validate(self, model: GraphModule) -> None:
        for quantizer in self.quantizers:
            quantizer.validate(model)


class ThirdPartyQuantizer(Quantizer):  # type: ignore[misc]
    """Wrapper around a third-party quantizer.

    If an op without weights was replaced by another op, the metadata of the user's code is hidden
    from it. torchao's quantizers look for known ops in that metadata.
    """

    def __init__(self, quantizer: Quantizer) -> None:
        super().__init__()
        if not isinstance(quantizer, Quantizer):
            raise LoweringError(
                "quantizer must be an object of a class derived from torchao's Quantizer; got "
                f"{describe(quantizer)}"
            )
        self._quantizer = quantizer

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        transformed: GraphModule = self._quantizer.transform_for_annotation(model)
        return transformed

    def annotate(self, model: GraphModule) -> GraphModule:
        changed = [n for n in model.graph.nodes if written_as(n) and not _weights_of(n)]
        hidden = [(n, key, n.meta.pop(key)) for n in changed for key in _WRITTEN if key in n.meta]
        try:
            with self._explained("annotate"):
                annotated: GraphModule = self._quantizer.annotate(model)
        finally:
            for node, key, value in hidden:
                node.meta[key] = value
        for node in model.graph.nodes:
            if KEY in node.meta:
                self._check_annotation(node)
                node.meta[_OF_ANOTHER] = has_float_kernel(node)
        return annotated

    def _check_annotation(self, node: Node) -> None:
        annotation = node.meta[KEY]
        if not isinstance(annotation, QuantizationAnnotation):
            reason = f"its annotation is {describe(annotation)}"
            raise LoweringError(
                REFUSED, [problem_at(node, reason, "torchao's QuantizationAnnotation")]
            )

    def validate(self, model: GraphModule) -> None:
        with self._explained("validate"):
            self._quantizer.validate(model)

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        try:
            yield
        except LoweringError:
            raise
        except Exception as error:
            raise LoweringError(
                f"{type(self._quantizer).__name__} cannot {verb} the model: "
                f"{type(error).__name__}: {error}\n    instead: leave such ops to Pilotlight's "
                "quantizer, with a filter or by names of modules"
            ) from error

    def prepare_obs_or_fq_callback(self, model: GraphModule, *made: Any) -> None:
        self._quantizer.prepare_obs_or_fq_callback(model, *made)


def check_third_party(prepared: GraphModule) -> None:
    """Raise LoweringError if a per-channel observer is used for a tensor with one dimension.

    Such observers cannot handle it.
    """
    problems = []
    for node in prepared.graph.nodes:
        if node.op != "call_module":
            continue
        observer, value = prepared.get_submodule(str(node.target)), node.all_input_nodes[0]
        if isinstance(observer, PerChannelMinMaxObserver) and value.meta["val"].dim() < 2:
            reader = next(iter(node.users))
            reason = f"asked for is a scale for each element of {value.name}"
            hint = "a bias with one scale, derived from its layer's, or none: lowering makes it"
            problems.append(problem_at(reader, reason, hint))
    if problems:
        raise LoweringError(REFUSED, problems)


def take_third_party(module: GraphModule) -> None:
    """Reduce torchao's converted graph, in place, to forms that lowering supports.

    - Quantized constants without an int8 reader, above all biases, become float
      constants: their dequantized values.
    - Weights have a scale for each channel.
    - Ops that only move values read them with the quantization of their result.

    Raises:
      LoweringError: an op of the graph has a quantization the device does not.
    """
    problems: dict[Node, Problem] = {}
    for node in list(module.graph.nodes):
        if not _quantizes(node):
            continue
        constant = tensor_constant(module, node.args[0])
        if constant is not None and node.target in (DEQUANTIZE, _PER_CHANNEL):
            node.meta["val"] = torch.empty_like(constant, dtype=torch.float32, device="meta")
            _fold(module, node, [n for n in node.users if not _reads_integers(n, node)])
            if not node.users:
                module.graph.erase_node(node)
                continue
        if reason := _reason(node, constant):
            at = _op_at(node)
            problems.setdefault(at, problem_at(at, f"asked for is {reason}", _HINT))
        elif constant is not None and node.target is DEQUANTIZE:
            _give_channels(module, node, constant)
    for node in list(module.graph.nodes):
        if reason := _op_reason(node):
            problems.setdefault(node, problem_at(node, reason, _HINT))
        else:
            _share(module, node)
    if problems:
        raise LoweringError(REFUSED, list(problems.values()))
    module.recompile()


def _op_reason(node: Node) -> str:
    """Describe a request for an op the device does not support; "" if it does."""
    if _OF_ANOTHER in node.meta and any(_mixes(*found) for found in _rules_of(node)):
        return "asked for are values of int8 and of int16 around one op"
    if _is_quantized(node):
        is_float = any(not _quantizes(w) for w in _weights_of(node))
        return "asked for are weights in float between quantized values" if is_float else ""
    is_left = node.meta.get(_OF_ANOTHER) is False and bool(_rules_of(node))
    return "it is asked to stay in float, and has no float kernel" if is_left else ""


def _mixes(result: Node, rule: Rule) -> bool:
    """Return True if an op needs inputs and results of one dtype but has several."""
    if isinstance(rule, Unary) or isinstance(rule.output, Shares | Carries):
        return False
    given = [] if isinstance(rule.output, Integers) else _behind(result)
    around = [*rule.activations(result), *given]
    if any(n.target not in (QUANTIZE, DEQUANTIZE) for n in around):
        return False
    return len({n.args[-1] for n in around}) > 1


def _share(module: GraphModule, node: Node) -> None:
    """Give the inputs of an op that only moves values the quantization of its result."""
    if _OF_ANOTHER not in node.meta or not _is_quantized(node):
        return
    for result, rule in _rules_of(node):
        given = {n.args[1:] for n in _behind(result)}
        if not isinstance(rule.output, Shares) or len(given) != 1:
            continue
        (limits,) = given
        for value in rule.activations(result):
            if value.args[1:] == limits:
                continue
            with module.graph.inserting_before(node):
                quantized = module.graph.call_function(QUANTIZE, (value, *limits))
                moved = module.graph.call_function(DEQUANTIZE, (quantized, *limits))
            for new in (quantized, moved):
                new.meta = dict(value.meta)
            node.replace_input_with(value, moved)


def _reads_integers(reader: Node, node: Node) -> bool:
    """Return True if a reader of a dequantized constant uses the integers themselves."""
    if node in _weights_of(reader):
        return _is_quantized(reader)
    dtype: Any = node.args[-1]
    read = any(node in rule.activations(result) for result, rule in _rules_of(reader))
    return read and dtype != torch.int32


def _is_quantized(layer: Node) -> bool:
    """Return True if the values before and after a layer are quantized."""
    if stays_float(layer):
        return False
    for result, rule in _rules_of(layer):
        if any(a.target is not DEQUANTIZE for a in rule.activations(result)):
            return False
        if any(n.target is not QUANTIZE for n in _behind(result)):
            return False
    return True


def _behind(result: Node) -> list[Node]:
    """Return the readers of a result. A clamp fused with its op is skipped."""
    found: list[Node] = []
    for user in result.users:
        fused = fused_clamp(user)
        found += [user] if fused is None or fused[0] is not result else [*user.users]
    return found


def _fold(module: GraphModule, node: Node, readers: Sequence[Node]) -> None:
    """Replace a dequantized constant by its float values."""
    if not readers:
        return
    source, *arguments = (
        tensor_constant(module, a) if isinstance(a, Node) else a for a in node.args
    )
    floats = node.target(source, *arguments)  # type: ignore[operator]
    constant = _constant(module, node, "float", floats)
    constant.meta = dict(node.args[0].meta, val=floats)  # type: ignore[union-attr]
    for reader in readers:
        reader.replace_input_with(node, constant)


def _give_channels(module: GraphModule, node: Node, values: torch.Tensor) -> None:
    """Turn the single scale of a layer's weights into one scale for each channel."""
    readers = [n for n in node.users if node in _weights_of(n)]
    if not readers:
        return
    source, scale, _, *limits = node.args
    axis = channel_axis(readers[0])
    scales = torch.full((values.shape[axis],), float(scale))  # type: ignore[arg-type]
    zeros = torch.zeros(len(scales), dtype=torch.int64)
    nodes = _constant(module, node, "scales", scales), _constant(module, node, "zeros", zeros)
    with module.graph.inserting_before(node):
        weights = module.graph.call_function(_PER_CHANNEL, (source, *nodes, axis, *limits))
    weights.meta = dict(node.meta)
    for reader in readers:
        reader.replace_input_with(node, weights)
    if not node.users:
        module.graph.erase_node(node)


def _constant(module: GraphModule, node: Node, what: str, value: torch.Tensor) -> Node:
    name = f"{what}_{node.name}"
    module.register_buffer(name, value)
    with module.graph.inserting_before(node):
        return module.graph.get_attr(name)


def _quantizes(node: Node) -> bool:
    return str(node.target).startswith("quantized_decomposed.")


def _reason(node: Node, constant: torch.Tensor | None) -> str:
    """Describe why the device does not support a quantize or dequantize node; "" if it does."""
    readers = [n for n in node.users if node in _weights_of(n)]
    arguments: Any = node.args
    if node.target is _PER_CHANNEL:
        _, _, zero_points, axis, least, largest, dtype = arguments
        zeros = tensor_constant(node.graph.owning_module, zero_points)  # type: ignore[arg-type]
        if not readers:
            return "a scale for each channel of what is no weight"
        if zeros is None or bool(zeros.any()):
            return f"weights of {_name(dtype)} with zero points"
        if any(axis != channel_axis(n) for n in readers):
            return f"weights with a scale for each index of dimension {axis}"
        is_known = all((least, largest, dtype) in _weight_ranges(n) for n in readers)
        return "" if is_known else f"weights of {_name(dtype)} of {least} to {largest}"
    if node.target not in (QUANTIZE, DEQUANTIZE):
        return "a quantization that is made as the model runs"
    _, _, zero_point, least, largest, dtype = arguments
    if constant is not None and readers:
        ranges = set.intersection(*map(_weight_ranges, readers))
        symmetric, what = True, "weights of "
    else:
        known = ACTIVATION_TYPES.get(dtype)
        ranges = set() if known is None else {(known.quant_min, known.quant_max, dtype)}
        symmetric, what = known is not None and known.symmetric, ""
    is_known = (least, largest, dtype) in ranges and not (symmetric and zero_point != 0)
    return (
        "" if is_known else f"{what}{_name(dtype)} of {least} to {largest}, zero_point {zero_point}"
    )


def _weight_ranges(reader: Node) -> set[tuple[int, int, torch.dtype]]:
    """Return the minimum and maximum integer of an op's weights, and their dtype."""
    kinds = [INT8_WEIGHT]
    if has_four_bit_form(reader):
        kinds += [INT4_WEIGHT, INT4_GROUPS_WEIGHT]
    found = {(kind.quant_min, kind.quant_max, kind.dtype) for kind in kinds}
    return {*found, (INT8.quant_min, INT8.quant_max, INT8.dtype)}


def _op_at(node: Node) -> Node:
    """Return the op that a quantization belongs to: the producer of the value.

    If the producer is nowhere in the model, return the reader.
    """
    source = node
    while _quantizes(source) and isinstance(source.args[0], Node):
        source = source.args[0]
    if source.op == "call_function":
        return source
    reader = node
    while _quantizes(reader) and reader.users:
        reader = next(iter(reader.users))
    return reader


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _weights_of(node: Node) -> list[Node]:
    """Return the weights of an op, or of one of its results."""
    found: list[Node] = []
    for result, rule in _rules_of(node):
        weights = rule.weights(result) or ()
        found += [weights] if isinstance(weights, Node) else weights
    return found


def _rules_of(node: Node) -> list[tuple[Node, Rule]]:
    """Return the rules of an op, or of its results."""
    results = (node, *(n for n in node.users if is_result(n)))
    return [(n, rule) for n in results if (rule := rule_for(n)) is not None]
