# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training: offers the prepared graph as a module to a training loop.

Fake quantizers replace observers, weights are parameters, and each folded BatchNorm stays active.
The convolution computes with the quantized weights it will have once the running statistics are
folded in. Its result is normalized by the batch's statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import new_buffer, state_nodes, tensor_constant
from aot.errors import LoweringError, describe, place_of
from aot.passes.aten.norms.fuse_batch_norm import Folded, folded_norm, scaled_weight
from aot.quantizer.observers import NotANumber, begin_sample
from aot.rules import rule_for
from aot.upstream.torchao import FakeQuantize, FixedQParamsObserver, ObserverBase


@dataclass(frozen=True)
class Batches:
    """Converter from a training loop's inputs to the model's.

    Attributes:
      prepare: exports the model for inputs of some shape, and inserts fake quantizers.
      tensors: inputs of the exported model, selected from the arguments of the user's.
    """

    prepare: Callable[[Sequence[torch.Tensor]], GraphModule]
    tensors: Callable[..., Sequence[torch.Tensor]]


Train = Callable[[nn.Module], object]
"""A training loop: it changes the parameters of the module it is given, in place."""

_SMALLEST = 1e-12  # lower bound of a divisor


class _OneValue(Exception):
    """A batch has only one value for each channel, so that its variance is unknown."""


class _LiveNorm(nn.Module):
    """A BatchNorm folded into the preceding convolution or linear layer."""

    bias: torch.Tensor
    mean: torch.Tensor
    variance: torch.Tensor

    def __init__(self, folded: Folded, shape: torch.Size) -> None:
        super().__init__()
        self.weight = nn.Parameter(folded.weight.reshape(shape).clone())
        self.scale = nn.Parameter(folded.scale.clone())
        self.offset = nn.Parameter(folded.offset.clone())
        self.register_buffer("bias", folded.bias.clone())
        self.register_buffer("mean", folded.mean.clone())
        self.register_buffer("variance", folded.variance.clone())
        self.epsilon, self.momentum, self.batches = folded.epsilon, folded.momentum, folded.batches
        self.groups = folded.groups

    def _newest(self) -> float:
        """Return the weight of this batch in the running statistics."""
        if self.batches is None:
            return self.momentum
        self.batches += 1
        return 1.0 / self.batches

    def factor(self) -> torch.Tensor:
        """Return the factor for each channel's weights."""
        factor = self.scale * torch.rsqrt(self.variance + self.epsilon)
        return torch.where(factor.abs() < _SMALLEST, _SMALLEST, factor)

    def folded_weight(self) -> torch.Tensor:
        return scaled_weight(self.weight, self.factor(), self.groups)

    def folded_bias(self) -> torch.Tensor:
        return (self.bias - self.mean) * self.factor() + self.offset

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """Normalize y [N, C, ...], computed with the folded weight and without a bias."""
        channels = [1, -1] + [1] * (y.dim() - 2)
        if not self.training:
            return y + self.folded_bias().reshape(channels)
        others = [d for d in range(y.dim()) if d != 1]
        count = y.numel() // y.shape[1]
        if count == 1:
            raise _OneValue
        factor = self.factor()
        mean, variance = y.mean(others), y.var(others, unbiased=False) / factor.square()
        with torch.no_grad():
            unbiased = variance * (count / (count - 1))
            newest = self._newest()
            self.mean.lerp_(mean / factor + self.bias, newest)
            self.variance.lerp_(unbiased, newest)
        scale = self.scale * torch.rsqrt(variance + self.epsilon) / factor
        centred = y - mean.reshape(channels)
        return centred * scale.reshape(channels) + self.offset.reshape(channels)


class _FoldedWeight(nn.Module):
    def __init__(self, norm: _LiveNorm) -> None:
        super().__init__()
        self.norm = norm

    def forward(self) -> torch.Tensor:
        return self.norm.folded_weight()


class Trainable(nn.Module):
    """A model in training for int8. It takes batches of any size.

    BatchNorm uses the batch's statistics in train mode, and ranges follow the values. Both stay
    fixed in eval mode. Dropout is off in both modes. So is autocast, because fake quantizers round
    float32.
    """

    def __init__(self, deployed: GraphModule, batches: Batches) -> None:
        super().__init__()
        self._batches = batches
        self._deployed = [deployed]  # no child: torchao forbids it train() and eval()
        self._by_shape: dict[tuple[torch.Size, ...], GraphModule] = {}
        self.values = nn.ParameterDict()
        self.norms = nn.ModuleDict()
        self.quantizers = nn.ModuleList(_fake_quantizers(deployed))
        for node in deployed.graph.nodes:
            folded = folded_norm(node)
            if folded is not None:
                weight, _ = _constants(deployed, node)
                self.norms[node.name] = _LiveNorm(folded, weight.meta["val"].shape)
            elif rule_for(node) is not None:
                self._make_parameters(node)
        self.train()

    def _make_parameters(self, node: Node) -> None:
        (deployed,) = self._deployed
        for source in _constants(deployed, node):
            name = str(source.target)
            key = name.replace(".", "_")
            if key not in self.values:
                value = tensor_constant(deployed, source)
                assert value is not None
                self.values[key] = nn.Parameter(value.detach().clone())
                _assign(deployed, name, self.values[key])

    def train(self, mode: bool = True) -> Trainable:
        super().train(mode)
        for quantizer in _fake_quantizers(self):
            quantizer.enable_observer(mode)
        return self

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        inputs = self._batches.tensors(*args, **kwargs)
        self._check_finite()
        shapes = tuple(x.shape for x in inputs)
        with torch.autocast("cpu", enabled=False):
            if shapes not in self._by_shape:
                self._by_shape[shapes] = self._graph(inputs)
            return self._run(self._by_shape[shapes], inputs)

    def _run(self, graph: GraphModule, inputs: Sequence[torch.Tensor]) -> Any:
        begin_sample(self.quantizers)
        statistics = [(buffer, buffer.clone()) for buffer in self.norms.buffers()]
        try:
            return graph(*inputs)
        except NotANumber as error:
            for buffer, before in statistics:  # else it would begin with NaN
                buffer.copy_(before)
            raise _not_a_number(graph, inputs) or error from error
        except _OneValue:
            raise LoweringError(
                f"BatchNorm cannot train on {describe(tuple(inputs))}, which give it one value of "
                "each channel\n    instead: larger batches, and drop_last=True of a DataLoader "
                "whose last one is of one sample; or .eval() on the module, which keeps the "
                "statistics"
            ) from None

    def _graph(self, inputs: Sequence[torch.Tensor]) -> GraphModule:
        (deployed,) = self._deployed
        prepared = self._batches.prepare(inputs)
        if _structure(prepared) != _structure(deployed):
            raise _another_graph(inputs)
        module = GraphModule(deployed, prepared.graph)
        for node in list(module.graph.nodes):
            made, ours = tensor_constant(prepared, node), tensor_constant(deployed, node)
            if made is not None and ours is not None and made.shape != ours.shape:
                if isinstance(ours, nn.Parameter):
                    raise _another_graph(inputs)
                # The constant has the size of the batch, such as zeros used as the base of a sum.
                node.target = new_buffer(module, f"{node.name}_of_batch", made)
            if node.name in self.norms:
                _make_live(module, node, self.norms[node.name])
        module.recompile()
        return module

    def _check_finite(self) -> None:
        norms = [(f"norms.{key}", norm) for key, norm in self.norms.items()]
        folded = [(key, norm.folded_weight()) for key, norm in norms if isinstance(norm, _LiveNorm)]
        for name, value in [*self.named_parameters(), *self.norms.named_buffers(), *folded]:
            if value.dtype != torch.float32:
                raise LoweringError(
                    f"training changed {name} to {describe(value)}; weights must stay float32. "
                    "Remove .half(), .double() and similar calls"
                )
            if not bool(torch.isfinite(value).all()):
                raise LoweringError(
                    f"training left NaN or infinite values in {name}: a smaller learning rate, "
                    "gradients that are clipped, or no function whose slope is infinite, such as "
                    "the logarithm or the root of what may be 0"
                )

    def finish(self, floats: GraphModule) -> None:
        """Fold BatchNorm and update the fake quantizers with the current weights.

        Args:
          floats: the graph before preparation; gets the weights too.

        Raises:
          LoweringError: training left parameters that are NaN or infinite.
        """
        (deployed,) = self._deployed
        self._check_finite()
        self.eval()
        self.requires_grad_(False)
        for node in deployed.graph.nodes:
            if node.name in self.norms:
                norm = self.norms[node.name]
                assert isinstance(norm, _LiveNorm)
                weight, bias = _constants(deployed, node)
                _assign(deployed, str(weight.target), norm.folded_weight().detach())
                _assign(deployed, str(bias.target), norm.folded_bias().detach())
            for constant in _constants(deployed, node):
                trained = tensor_constant(deployed, constant)
                assert trained is not None
                _assign(floats, str(constant.target), trained)
        for node in deployed.graph.nodes:
            module = _fake_quantizer(deployed, node)
            if module is not None and module.is_per_channel:
                module.enable_observer()
                module(tensor_constant(deployed, node.args[0]))


class _FirstNotANumber(Interpreter):
    """Interpreter of a graph in training. It stops at the first value that a fake quantizer
    rejects.

    Attributes:
      value: the rejected one.
    """

    value: Node | None = None

    def run_node(self, n: Node) -> Any:
        try:
            return super().run_node(n)
        except NotANumber:
            self.value = n.all_input_nodes[0]
            raise


def _another_graph(inputs: Sequence[torch.Tensor]) -> LoweringError:
    return LoweringError(
        f"the model is another graph for training inputs {describe(tuple(inputs))} than for the "
        "example inputs: give training inputs that differ in the batch's size only; where that "
        "alone makes the difference, of the example's size, in a step of the optimizer as many as "
        "its batch has"
    )


def _not_a_number(graph: GraphModule, inputs: Sequence[torch.Tensor]) -> LoweringError | None:
    """Return an error for a NaN in training; None if it does not recur."""
    interpreter = _FirstNotANumber(graph)
    with suppress(NotANumber):
        interpreter.run(*inputs)
    value = interpreter.value
    if value is None:
        return None
    if value.op == "call_module":  # a BatchNorm after its layer
        value = value.all_input_nodes[0]
    where = place_of(value)
    return LoweringError(
        f"in training, {value.name} is NaN"
        + (f"\n    at {where}" if where else "")
        + "\n    keep what it is computed from inside the function's domain (clamp it), or take a "
        "smaller learning rate"
    )


def _check_observers(deployed: GraphModule) -> None:
    """Raise LoweringError if another quantizer's observers do not quantize during training.

    The weights would not adapt to them, and would be treated as constants.
    """
    found = []
    for node in deployed.graph.nodes:
        module = deployed.get_submodule(str(node.target)) if node.op == "call_module" else None
        if isinstance(module, ObserverBase) and not isinstance(module, FixedQParamsObserver):
            found.append((node, type(module).__name__))
    if found:
        (node, name), *_ = found
        value = node.all_input_nodes[0]
        at = value if value.op == "call_function" else next(iter(node.users))
        where = place_of(at)
        raise LoweringError(
            f"training needs fake quantizers, and the quantizer only observes {value.name}, with "
            f"{name} (of {len(found)} such)"
            + (f"\n    at {where}" if where else "")
            + "\n    instead: is_qat=True in the configuration of torchao's quantizers and "
            "XNNPACK's; in specs of your own, a fake quantizer as observer_or_fake_quant_ctr"
        )


def _fake_quantizers(module: nn.Module) -> list[FakeQuantize]:
    return [m for m in module.modules() if isinstance(m, FakeQuantize)]


def _fake_quantizer(module: GraphModule, node: object) -> FakeQuantize | None:
    if not isinstance(node, Node) or node.op != "call_module":
        return None
    found = module.get_submodule(str(node.target))
    return found if isinstance(found, FakeQuantize) else None


def _constants(module: GraphModule, node: Node) -> list[Node]:
    """Return the weights and the bias of a layer without fake quantizers, if it has them."""
    rule = rule_for(node)
    weights = (rule.weights(node) if rule is not None else None) or ()
    sources: list[Any] = [weights] if isinstance(weights, Node) else list(weights)
    if isinstance(weights, Node):
        sources += node.args[2:3]
    while any(_fake_quantizer(module, s) is not None for s in sources):
        sources = [s.args[0] if _fake_quantizer(module, s) else s for s in sources]
    return [s for s in sources if isinstance(s, Node) and s.op == "get_attr"]


def _make_live(module: GraphModule, node: Node, norm: nn.Module) -> None:
    """Compute a layer with weights scaled by its BatchNorm, and insert the BatchNorm after it."""
    graph, weight = module.graph, node.args[1]
    assert isinstance(weight, Node) and isinstance(norm, _LiveNorm)
    for name, part in (("norm", norm), ("folded_weight", _FoldedWeight(norm))):
        module.add_submodule(f"{node.name}_{name}", part)
    with graph.inserting_before(weight):
        folded = graph.call_module(f"{node.name}_folded_weight")
    if weight.op == "get_attr":  # of a layer that stays float
        weight = folded
    else:
        weight.args = (folded,)
    node.args = (node.args[0], weight, None, *node.args[3:])
    with graph.inserting_after(node):
        behind = graph.call_module(f"{node.name}_norm")
    node.replace_all_uses_with(behind)
    behind.args = (node,)


def _structure(module: GraphModule) -> list[tuple[str, str, str]]:
    return [(n.op, n.name, str(n.target)) for n in module.graph.nodes]


def _assign(module: nn.Module, name: str, value: torch.Tensor) -> None:
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    if hasattr(owner, last):
        delattr(owner, last)
    if isinstance(value, nn.Parameter):
        owner.register_parameter(last, value)
    else:
        owner.register_buffer(last, value)


def train_prepared(
    deployed: GraphModule, floats: GraphModule, batches: Batches, train: Train
) -> None:
    """Train a prepared and calibrated graph, in place.

    Args:
      deployed: with fake quantizers, of the example inputs' shapes; its weights are
        copied before they change.
      floats: the graph it was prepared from; gets the trained weights.
      batches: make such a graph for inputs of other shapes.
      train: the loop; torch's random numbers are seeded for it, so the same loop gives
        the same weights.

    Raises:
      LoweringError: the model keeps state, or training left NaN or infinite values.
    """
    if state_nodes(deployed):
        raise LoweringError(
            "a model with state cannot be trained with fake quantization. Train it in float"
        )
    _check_observers(deployed)
    for quantizer in _fake_quantizers(deployed):
        quantizer.activation_post_process.calibrates = False
        quantizer.enable_fake_quant()
    trainable = Trainable(deployed, batches)
    with torch.random.fork_rng(), torch.enable_grad():
        torch.manual_seed(0)
        train(trainable)
    trainable.finish(floats)
