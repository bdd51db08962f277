# SPDX-License-Identifier: Apache-2.0
"""Folds ATen ops between dequantize and quantize nodes into typed int8 ops of the dialect.

Takes torchao's converted graph (ATen ops, `quantized_decomposed` quantize and dequantize nodes) and
builds a new graph of dialect ops. Each quantize node of a value starts a case:

- Its op is emitted by the op's rule, fused with a clamp after it.
- A quantize of a dequantize is a requantization, hence a table.
- A quantize of a model input makes the input int8.

An op without a quantize node after it stays a float op between pl::dequantize and pl::quantize.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import (
    Builder,
    Edge,
    Origin,
    drop_dead_code,
    edge_of,
    quantization_of,
    returned,
    state_of,
    tensor_constant,
)
from aot.dialect.qdq import DEQUANTIZE, QUANTIZE, activation_quantization, stays_float
from aot.dialect.quantization import WHOLE_NUMBERS, Quantization
from aot.dialect.results import taken_from
from aot.dialect.rule import ON_DEVICE, Call, Clamp, Rule
from aot.errors import module_path, source_line
from aot.rules import fused_clamp, gives_integers, on_floats, rule_for
from aot.rules.conversion import converted
from aot.rules.floats import FloatCall, float_form
from aot.rules.function import function_root, members, unquantized_of
from aot.rules.integers import whole_quantization
from aot.rules.unary import mask_rule
from kernels.dequantize.op import dequantize
from kernels.quantize.op import quantize, quantize_arguments


def _op_name(node: Node) -> str:
    return str(taken_from(node)[0].target).rsplit(".", 1)[0]


def _origin(ops: tuple[str, ...], *nodes: Node, quantized: str = "") -> Origin:
    """Return the origin of ops, from the first of the nodes with one."""
    source = next((line for n in nodes if (line := source_line(n))), "")
    module = next((path for n in nodes if (path := module_path(n))), "")
    return Origin(ops, source, module, quantized)


class _Folder:
    def __init__(self, source: GraphModule, float_io: bool) -> None:
        self.source = source
        self.module = GraphModule(torch.nn.Module(), Graph())
        self.graph = self.module.graph
        self.builder = Builder(self.module, self.graph)
        self.float_io = float_io
        self.int8: dict[Node, Node] = {}  # quantize or dequantize node -> dialect node
        self.floats: dict[Node, Node] = {}  # float value -> node of the new graph

    def run(self) -> GraphModule:
        for node in self.source.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.target is QUANTIZE:
                self.int8[node] = self._quantize(node)
            elif node.target is DEQUANTIZE:
                self.int8[node] = self._dequantize(node)
            elif node.op == "output":
                self._output(node)
        drop_dead_code(self.graph)
        self.graph.lint()
        self.module.recompile()
        return self.module

    def _placeholder(self, node: Node) -> None:
        value = node.meta["val"]
        quantizers = [u for u in node.users if u.target is QUANTIZE]
        quantizations = {activation_quantization(u) for u in quantizers}
        if value.dtype in WHOLE_NUMBERS:
            numbers = WHOLE_NUMBERS[value.dtype]
            value = torch.empty_like(value, dtype=numbers.type.dtype, device="meta")
            self.floats[node] = self.builder.placeholder(node.name, value, Edge(numbers))
            return
        is_state = "state" in node.meta
        if value.dtype in ON_DEVICE:
            value = torch.empty_like(value, dtype=ON_DEVICE[value.dtype], device="meta")
        keeps_float = not is_state and (self.float_io or len(quantizers) != len(node.users))
        quantization = quantizations.pop() if len(quantizations) == 1 else None
        if keeps_float or quantization is None:
            quantization = None
            new = self.floats[node] = self.builder.placeholder(node.name, value, Edge())
        else:
            value = torch.empty_like(value, dtype=quantization.type.dtype, device="meta")
            new = self.builder.placeholder(node.name, value, Edge(quantization))
            self.int8 |= dict.fromkeys([node, *quantizers], new)
        if is_state:
            state = state_of(node)
            if quantization is not None:
                state = replace(state, initial=quantization.quantize(state.initial))
            new.meta["state"] = state

    def _quantize(self, node: Node) -> Node:
        if node in self.int8:  # a model input made int8
            return self.int8[node]
        value, quantization = node.args[0], self._quantization(node)
        assert isinstance(value, Node)
        if value.target is DEQUANTIZE:
            return self._requantize(value, quantization, node)
        constant = tensor_constant(self.source, value)
        if constant is not None:
            q = quantization.quantize(constant)
            return self.builder.constant(value.name, q, Edge(quantization))
        fused = fused_clamp(value)
        base, clamp = fused if fused is not None else (value, Clamp())
        rule = None if stays_float(base) else rule_for(base)
        if rule is not None and all(a in self.int8 for a in rule.activations(base)):
            return self._emit(rule, value, base, clamp, node)
        origin = _origin((_op_name(value),), value, quantized=node.name)
        args = (self._as_float(value), *quantize_arguments(quantization))
        return self.builder.call(quantize, *args, edge=Edge(quantization), origin=origin)

    def _quantization(self, node: Node) -> Quantization:
        """Return a quantize node's quantization. The verifier checks its `whole`."""
        quantization, value = activation_quantization(node), node.args[0]
        assert isinstance(value, Node)
        if value.target is DEQUANTIZE:
            given = quantization_of(self.int8[value])
            is_whole = given.whole and quantization in WHOLE_NUMBERS.values()
        else:
            is_whole = whole_quantization(value) is not None
        return replace(quantization, whole=is_whole)

    def _emit(
        self, rule: Rule, value: Node, base: Node, clamp: Clamp, quantized: Node | None
    ) -> Node:
        fused = [value] if value is not base else []
        parts = members(base) if function_root(base) is not None else [base]
        ops = tuple(_op_name(n) for n in [*parts, *fused])
        call = Call(
            node=base,
            module=self.source,
            inputs=[self.int8[a] for a in rule.activations(base)],
            quantization=None if quantized is None else self._quantization(quantized),
            builder=self.builder,
            origin=_origin(ops, base, value, quantized="" if quantized is None else quantized.name),
            unquantized=self._as_float,
            clamp=clamp,
        )
        made = rule.emit(call)
        shapes = [tuple(n.meta["val"].shape) for n in (made, base)]
        if shapes[0] != shapes[1]:
            raise AssertionError(f"the rule of {ops[0]} gives {shapes[0]}, the model {shapes[1]}")
        return made

    def _requantize(self, value: Node, quantization: Quantization, node: Node) -> Node:
        source = self.int8[value]
        origin = _origin(("requantize",), value, node, quantized=node.name)
        return converted(self.builder, source, quantization, origin, node.name)

    def _dequantize(self, node: Node) -> Node:
        source = node.args[0]
        assert isinstance(source, Node)
        if source in self.int8:
            return self.int8[source]
        constant = tensor_constant(self.source, source)
        assert constant is not None, node
        # Torchao quantizes constants itself, and does not keep their users.
        is_whole = any(whole_quantization(user) is not None for user in node.users)
        quantization = replace(activation_quantization(node), whole=is_whole)
        return self.builder.constant(source.name, constant, Edge(quantization))

    def _as_float(self, argument: Node) -> Node:
        """Return a float value of the new graph.

        Ops without an int8 form are created here, when a reader needs them.
        """
        waiting = [argument]  # not by recursion: a chain may be longer than Python's stack
        while waiting:
            missing = [n for n in self._sources(waiting[-1]) if n not in self.floats]
            if missing:
                waiting.extend(missing)
            else:
                node = waiting.pop()
                if node not in self.floats:
                    self.floats[node] = self._make_float(node)
        return self.floats[argument]

    def _sources(self, node: Node) -> list[Node]:
        """Return the unquantized sources of a value."""
        known = node in self.floats or node in self.int8
        if known or tensor_constant(self.source, node) is not None:
            return []
        if self._gives_integers(node) or mask_rule(node) is not None:
            return unquantized_of(node)
        return taken_from(node)[0].all_input_nodes

    def _gives_integers(self, node: Node) -> bool:
        """Return True if a rule turns quantized values into an unquantized result of a node."""
        rule = rule_for(node) if gives_integers(node) else None
        return rule is not None and all(a in self.int8 for a in rule.activations(node))

    def _make_float(self, argument: Node) -> Node:
        """Return a float value whose float sources exist already."""
        constant = tensor_constant(self.source, argument)
        if argument in self.int8:
            source = self.int8[argument]
            quantization = quantization_of(source)
            args = (source, quantization.scale, quantization.zero_point)
            origin = _origin(("dequantize",), argument)
            new = self.builder.call(dequantize, *args, edge=Edge(), origin=origin)
        elif constant is not None:
            dtype = ON_DEVICE.get(constant.dtype, constant.dtype)
            new = self.builder.constant(argument.name, constant.to(dtype))
        elif self._gives_integers(argument):
            rule = rule_for(argument)
            assert rule is not None
            new = self._emit(rule, argument, argument, Clamp(), None)
        elif (rule := on_floats(argument)) is not None:
            new = self._emit(rule, argument, argument, Clamp(), None)
        elif (form := float_form(argument)) is not None:
            origin = _origin((_op_name(argument),), argument)
            constants = partial(tensor_constant, self.source)
            made = self.floats.__getitem__
            new = form(FloatCall(argument, made, constants, self.graph, self.builder, origin))
        else:
            made = self.floats.__getitem__
            inputs, kwargs = (map_arg(a, made) for a in (argument.args, argument.kwargs))
            new = self.graph.call_function(argument.target, inputs, kwargs)  # type: ignore[arg-type]
            origin = _origin((_op_name(argument),), argument)
            new.meta.update(val=argument.meta["val"], edge=Edge(), origin=origin)
            new.meta["stack_trace"] = origin.source
        return new

    def _output(self, node: Node) -> None:
        def result(argument: Node) -> Node:
            if argument in self.int8 and not self.float_io:
                return self.int8[argument]
            return self._as_float(argument)

        structure, states = returned(self.source)
        results = map_arg(structure, result)
        if states:
            placeholders = [n for n in self.graph.nodes if "state" in n.meta]
            pairs = zip(states, placeholders, strict=True)
            results = (*results, *(self._state_value(n, edge_of(p).quantization) for n, p in pairs))
        new = self.graph.output(results)
        new.meta.update(origin=Origin())

    def _state_value(self, value: Node, quantization: Quantization | None) -> Node:
        """Return the new value of a state, of the state's quantization."""
        if quantization is None:
            return self._as_float(value)
        if value in self.int8:
            return self._requantize(value, quantization, value)
        origin = _origin(("quantize",), value)
        args = (self._as_float(value), *quantize_arguments(quantization))
        return self.builder.call(quantize, *args, edge=Edge(quantization), origin=origin)


def fold_qdq(source: GraphModule, float_io: bool = False) -> GraphModule:
    """Build the dialect graph of a converted torchao graph; the source is left as it was.

    Args:
      source: ATen ops with quantize and dequantize nodes, `meta["val"]` on every node.
      float_io: keep float model inputs and outputs, with pl::quantize and pl::dequantize at the
        border.
    """
    return _Folder(source, float_io).run()
