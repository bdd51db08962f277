# SPDX-License-Identifier: Apache-2.0
"""Annotates a graph for int8: a torchao PT2E `Quantizer` based on rules, not on module patterns.

Every value has exactly one quantization. Some ops need equal quantizations, such as those before
and after reshape, pools and cat. Such values form one group.

A group has one observer. It knows the range if the function defines it (sigmoid, softmax, tanh). A
value between two groups belongs to the group of its producer, and is requantized on its way into
the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch.fx import GraphModule, Node

from aot.backends.cortex_m import has_float_kernel, of_floats
from aot.backends.traits import Traits
from aot.dialect.graph import state_nodes
from aot.dialect.qdq import keep_float, stays_float
from aot.dialect.quantization import (
    INT4_GROUPS_WEIGHT,
    INT4_WEIGHT,
    INT8,
    INT8_WEIGHT,
    INT16,
    Quantization,
    QuantizedType,
)
from aot.dialect.recurrence import STATE_BITS
from aot.dialect.results import is_result, taken_from
from aot.dialect.rule import HEADROOM, HEADROOM_INT16, Integers, Rule, Shares
from aot.errors import LoweringError, Problem, problem_at
from aot.quantizer import recipe as asked_for
from aot.quantizer.comparison_constants import comparison_constants
from aot.quantizer.first_input import given_inputs
from aot.quantizer.groups import Groups, grouped
from aot.quantizer.int4 import round_weights
from aot.quantizer.int16 import gives_int16, int16_values, takes_int16, widened
from aot.quantizer.observers import (
    activation_observer,
    carried_observer,
    known_observer,
    weight_observer,
)
from aot.quantizer.recipe import Recipe
from aot.quantizer.specs import fixed, per_channel, per_tensor
from aot.quantizer.supported import is_real, readers_for, supported_rule, take_states
from aot.quantizer.third_party import KEY, REFUSED
from aot.rules import fused_clamp
from aot.rules.four_bits import has_four_bit_form
from aot.rules.function import Roots, parts_of, roots_known
from aot.rules.weights import channel_axis
from aot.upstream.torchao import (
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    Quantizer,
    SharedQuantizationSpec,
)

_FOUR_BITS = dict(zip(asked_for.FOUR_BITS, (INT4_WEIGHT, INT4_GROUPS_WEIGHT), strict=True))


class Int8Quantizer(Quantizer):  # type: ignore[misc]
    """Quantizer that annotates every op with a supporting rule. Other ops stay float between two
    conversions.

    Annotations by another quantizer stay as they are.

    Args:
      traits: requirements of engines on the values around an op, by name of the dialect
        op.
      recipe: the user's settings.
      first_input: the quantization of the first input.
    """

    def __init__(
        self,
        traits: Mapping[str, Traits] | None = None,
        recipe: Recipe | None = None,
        first_input: Quantization | None = None,
    ) -> None:
        super().__init__()
        self._traits = traits or {}
        self._recipe = recipe or Recipe.of()
        self._first_input = first_input
        self._theirs: set[Node] = set()
        self._floats: list[Node] = []
        self._wide: set[Node] = set()
        self._without_int16: list[Node] = []
        self._without_four_bits: list[Node] = []
        self._conversions: dict[Node, tuple[Node, QuantizationSpecBase]] = {}
        self._constants: dict[Node, set[float]] = {}

    @property
    def wide(self) -> frozenset[str]:
        """Names of int16 values. Available after annotation."""
        return frozenset(node.name for node in self._wide)

    @property
    def floats(self) -> frozenset[str]:
        """Names of float values. Available after annotation."""
        return frozenset(node.name for node in self._floats)

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Round four-bit weights in groups."""
        for node in model.graph.nodes:
            if self._four_bits(node) is INT4_GROUPS_WEIGHT:
                round_weights(model, node)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        take_states(model)
        self._constants = comparison_constants(model.graph.nodes)
        with roots_known(model.graph) as roots:
            self._annotate_all(model, roots)
        return model

    def _annotate_all(self, model: GraphModule, roots: Roots) -> None:
        nodes = list(model.graph.nodes)
        order = {node: i for i, node in enumerate(nodes)}
        self._theirs = {node for node in nodes if KEY in node.meta}
        supported = {
            node: rule for node in nodes if (rule := supported_rule(node, roots)) is not None
        }
        covered = {n: rule for n, rule in supported.items() if not self._is_left(n, rule)}
        theirs_inside = self._fused_by_another(supported, roots)
        for node in supported:
            if not (node in covered or node in theirs_inside or self._is_quantized(node)):
                keep_float(node)
        inside = covered.keys() | parts_of(covered, roots)
        self._floats = [
            node
            for node in nodes
            if node.op == "call_function"
            and node not in inside
            and of_floats(node)
            and (stays_float(node) or self._recipe.quantization.of(node) == asked_for.FLOAT)
        ]
        # The producer of a fused clamp has no observed value.
        inner = {f[0] for n in covered if (f := fused_clamp(n, roots)) is not None}
        given = given_inputs(model, self._first_input)
        self._find_int16(nodes, covered, roots, given)
        self._without_four_bits = [
            node
            for node, rule in covered.items()
            if self._recipe.quantization.of(node) in _FOUR_BITS
            and rule.weights(node)
            and not has_four_bit_form(node)
        ]
        groups = grouped(covered, inner, state_nodes(model), self._theirs, self._wide, given)
        self._apply_traits(covered, inner, groups)
        firsts = groups.firsts(order)
        self._find_conversions(covered, groups, order)
        for node, rule in covered.items():
            self._annotate(node, rule, groups, firsts)
        for value in nodes:
            is_free = value not in covered and value not in self._theirs
            if value in groups and is_free:  # inputs, constants, float ops
                value.meta[KEY] = QuantizationAnnotation(
                    output_qspec=self._spec(value, groups, firsts), _annotated=True
                )

    def validate(self, model: GraphModule) -> None:
        """Raise LoweringError if the recipe names a missing layer.

        Also raise it if an op has to stay float but has no float kernel.
        """
        self._recipe.check(model)
        has_weights = [n for n in model.graph.nodes if self._four_bits(n) is not None]
        self._recipe.check_effect(model, self._theirs, {*has_weights, *self._without_four_bits})
        problems = [
            _problem(node, "it is to stay in float32, and has no float kernel")
            for node in self._floats
            if not has_float_kernel(node)
            # Values quantized by another quantizer have quantized outputs.
            and (node not in self._theirs or node.meta[KEY].output_qspec is None)
        ]
        problems += [
            _problem(node, "it is to be int16, and has no int16 form")
            for node in self._without_int16
        ]
        problems += [
            _problem(
                node,
                "its weights are to have four bits, and only linear layers and 1x1 "
                "convolutions of stride 1 have such",
            )
            for node in {taken_from(n)[0]: n for n in reversed(self._without_four_bits)}.values()
        ]
        if problems:  # those of the layers and directions of one recurrent module are the same
            raise LoweringError("the model cannot be lowered as asked:", [*dict.fromkeys(problems)])

    def _find_int16(
        self,
        nodes: list[Node],
        covered: dict[Node, Rule],
        roots: Roots,
        given: Mapping[Node, Quantization],
    ) -> None:
        """Set the int16 values, and the values that should be int16 but cannot."""
        readers: dict[Node, list[tuple[Node, Node]]] = {}
        fused: dict[Node, Node] = {}  # clamps and the ops they are fused with
        for node, rule in covered.items():
            clamped = fused_clamp(node, roots)
            if clamped is not None and clamped[0] in covered:
                fused[node] = clamped[0]
                continue
            for value in rule.activations(node):
                users = [n for n in (node, *readers_for(node)) if value in n.all_input_nodes]
                readers.setdefault(value, []).extend((user, node) for user in users)

        def is_asked(node: Node) -> bool:
            base = fused.get(node, node)
            if self._four_bits(base) is not None:
                return False  # independent of the request of a fused clamp
            both = (node, base, clamps.get(node, node))
            return any(self._recipe.quantization.of(n) == asked_for.INT16 for n in both)

        clamps = {producer: clamp for clamp, producer in fused.items()}
        bases = {node: fused.get(node, node) for node in covered}
        able = {node for node, base in bases.items() if takes_int16(covered[base], base)}
        theirs = {node: gives_int16(node) for node in self._theirs}
        self._wide = int16_values(nodes, covered, able, readers, is_asked, theirs, given)
        self._without_int16 = [n for n in covered if n not in able and is_asked(n)]

    def _four_bits(self, node: Node) -> QuantizedType | None:
        """Return the requested four-bit weight type of an op, if it supports one."""
        asked = _FOUR_BITS.get(self._recipe.quantization.of(node))
        return asked if asked is not None and has_four_bit_form(node) else None

    def _is_left(self, node: Node, rule: Rule) -> bool:
        """Return True if an op stays float although it could be int8."""
        if node in self._theirs:
            return True
        of_reals = any(map(is_real, (node, *rule.activations(node))))
        return of_reals and self._recipe.quantization.of(node) == asked_for.FLOAT

    def _is_quantized(self, node: Node) -> bool:
        """Return True if another quantizer quantizes a value."""
        return node in self._theirs and node.meta[KEY].output_qspec is not None

    def _fused_by_another(self, supported: Mapping[Node, Rule], roots: Roots) -> set[Node]:
        """Return ops that another quantizer leaves unquantized but whose clamp it quantizes."""
        clamps = {n: f[0] for n in supported if (f := fused_clamp(n, roots)) is not None}
        return {n for c, n in clamps.items() if n in self._theirs and self._is_quantized(c)}

    def _needs(self, node: Node, rule: Rule) -> Traits:
        return self._traits.get(rule.op(node).name, Traits())

    def _apply_traits(self, covered: dict[Node, Rule], inner: set[Node], groups: Groups) -> None:
        """Change values as engines require, unless a fixed range prevents it."""
        around: list[tuple[Traits, list[Node]]] = []
        for node in covered:
            if node not in inner:
                fused = fused_clamp(node)
                base = node if fused is None else fused[0]
                rule = covered.get(base)
                if rule is not None:
                    values = [v for v in (node, *rule.activations(base)) if v in groups]
                    around.append((self._needs(base, rule), values))
        for traits, values in around:
            for value in values[1:] if traits.shares_quantization else ():
                groups.join(value, values[0])
        for traits, values in around:
            for value in values if traits.zero_point_0 else ():
                groups[value].symmetric = True
            for value in values[:1] if traits.whole_range else ():
                groups[value].whole = True

    def _annotate(self, node: Node, rule: Rule, groups: Groups, firsts: dict[Node, Node]) -> None:
        inputs: dict[Node, QuantizationSpecBase] = {}
        output = self._spec(node, groups, firsts) if node in groups else None
        if fused_clamp(node) is None:
            for value in rule.activations(node):
                if self._takes_as_is(value, node, rule, groups):
                    inputs[value] = self._spec(value, groups, firsts, edge=True)
                elif not isinstance(rule.output, Shares):
                    inputs[value] = SharedQuantizationSpec((value, self._conversions[value][0]))
                elif isinstance(output, QuantizationSpec):
                    # A source outside of the op's group is requantized on this edge. The edge now
                    # comes first in the group.
                    inputs[value] = output
                    output = SharedQuantizationSpec((value, node))
                else:
                    assert output is not None
                    inputs[value] = output
            weights = rule.weights(node) or ()
            kind = self._four_bits(node) or INT8_WEIGHT
            uniform = self._needs(node, rule).weights_per_tensor
            for weight in (weights,) if isinstance(weights, Node) else weights:
                axis = channel_axis(node)
                observer = weight_observer(axis, uniform, self._recipe.training)
                inputs[weight] = per_channel(kind, observer, axis)
        for member in readers_for(node):
            if member in self._theirs:
                reason = "another quantizer annotates a part of what is one op on the device"
                problem = problem_at(member, reason, "leave all of it to Pilotlight's quantizer")
                raise LoweringError(REFUSED, [problem])
            member.meta[KEY] = QuantizationAnnotation(
                input_qspec_map=self._read(member, inputs),
                allow_implicit_sharing=False,
                _annotated=True,
            )
        node.meta[KEY] = QuantizationAnnotation(
            input_qspec_map=self._read(node, inputs),
            output_qspec=output,
            allow_implicit_sharing=False,
            _annotated=True,
        )

    def _takes_as_is(self, value: Node, node: Node, rule: Rule, groups: Groups) -> bool:
        """Return True if an op accepts the present quantization of a value."""
        if isinstance(rule.output, Shares):
            return groups[value] is groups[node]
        if isinstance(rule.output, Integers):
            if is_result(node):
                return True  # an index goes with the values it was computed with
            taken = [groups[v] for v in rule.activations(node)]
            if all(g.exact for g in taken) and len({g.wide for g in taken}) == 1:
                return True  # counts, masks and indices of integer inputs are exact
        return groups[value].carried or groups[value].wide == (node in self._wide)

    def _find_conversions(
        self, covered: dict[Node, Rule], groups: Groups, order: dict[Node, int]
    ) -> None:
        """Set the quantizations of values for readers of another dtype.

        Each is annotated at the first such reader.
        """
        readers: dict[Node, list[Node]] = {}
        kinds: dict[Node, QuantizedType] = {}
        for node, rule in covered.items():
            if fused_clamp(node) is not None or isinstance(rule.output, Shares):
                continue
            for value in rule.activations(node):
                if not self._takes_as_is(value, node, rule, groups):
                    users = [n for n in (node, *readers_for(node)) if value in n.all_input_nodes]
                    readers.setdefault(value, []).extend(users)
                    kinds[value] = INT16 if node in self._wide else INT8
        for value, users in readers.items():
            kind, group = kinds[value], groups[value]
            spec = self._observed(kind, [value], 0.0)
            if group.exact and group.fixed is not None and kind is INT16:
                spec = fixed(widened(group.fixed.quantization))
            self._conversions[value] = min(users, key=lambda n: order[n]), spec

    def _read(
        self, node: Node, inputs: dict[Node, QuantizationSpecBase]
    ) -> dict[Node, QuantizationSpecBase]:
        """Return the quantizations of the inputs that a node itself reads."""
        specs = {v: s for v, s in inputs.items() if v in node.all_input_nodes}
        for value in specs:
            first, spec = self._conversions.get(value, (None, None))
            if first is node and spec is not None:
                specs[value] = spec
        return specs

    def _observed(
        self, kind: QuantizedType, values: Sequence[Node], headroom: float
    ) -> QuantizationSpec:
        """Return one scale for values, from the observer of the first one."""
        name, training = self._recipe.observer.of(values[0]), self._recipe.training
        if kind is INT16 and name in ("histogram", "minmax"):
            # int16 has steps enough: there is nothing to gain by clipping, and much to lose.
            name, headroom = "minmax", max(headroom, HEADROOM_INT16)
        constants = sorted(set().union(*(self._constants.get(v, ()) for v in values)))
        return per_tensor(kind, activation_observer(name, training, headroom, constants))

    def _spec(
        self, value: Node, groups: Groups, firsts: dict[Node, Node], edge: bool = False
    ) -> QuantizationSpecBase:
        """Return the group's quantization: its own spec for the first member, a shared spec for
        others.
        """
        group, first = groups[value], firsts[value]
        is_float = first in self._theirs and not self._is_quantized(first)
        # If another quantizer leaves a value float, each reader quantizes the same values itself.
        if (value is not first or edge) and not is_float:
            return SharedQuantizationSpec(first)
        training = self._recipe.training
        if group.fixed is None and group.carried:
            return per_tensor(INT16, carried_observer(STATE_BITS, group.spare_bits, training))
        if group.fixed is None:
            kind = INT16 if group.wide else replace(INT8, symmetric=group.symmetric)
            return self._observed(kind, [first, *group.members], group.headroom)
        quantization = group.fixed.quantization
        if group.wide:
            return fixed(widened(quantization))
        if not group.fixed.finer or group.whole:
            return fixed(quantization)
        known = quantization.scale, quantization.zero_point
        return per_tensor(quantization.type, known_observer(*known, training, HEADROOM))


def _problem(node: Node, reason: str) -> Problem:
    return problem_at(node, reason, "int8 for this layer")
