# SPDX-License-Identifier: Apache-2.0
"""Selects the engine of each op, and records the reasons.

Each engine in the target's order checks every node left by the engines before it. Its nodes are
formed into convex regions. The engine may refuse or leave a region; the others are compiled and cut
out. Nodes without an engine stay on the CPU.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from absl import logging
from torch.fx import GraphModule, Node

from aot.backends.backend import Backend, CannotRun, NotWorth
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import Delegate, DelegatePayload
from aot.dialect.graph import (
    arguments,
    dialect_op,
    edge_of,
    inputs_of,
    is_channels_last,
    tensor_constant,
)
from aot.dialect.results import is_result, results_of, taken_from
from aot.errors import LoweringError, describe, place, raised
from aot.partition.cut import Region, cut, extract
from aot.partition.cut import results_of as results_of_region
from aot.partition.regions import convex_regions
from aot.pte.conventions import Needs

_SHOWN_OPS = 12
_SHOWN_REASONS = 3


def partition(module: GraphModule, target: Target) -> None:
    """Partition a verified dialect graph in place.

    Every op, also inside a delegate, gets three entries in its meta:

    - `meta["runs_on"]`: the name of its backend;
    - `meta["not_on"]`: the reason of each earlier backend, by name;
    - `meta["could_run_on"]`: earlier able backends that left it.

    Raises:
      LoweringError: a backend fails, or gives an unexpected result.
    """
    for node in _ops(module):
        node.meta.update(runs_on=target.backends[-1].name, not_on={}, could_run_on=[])
    absent = target.absences
    for backend in target.engines:
        if backend.name in absent:
            for node in _ops(module):
                node.meta["not_on"][backend.name] = absent[backend.name]
            continue
        delegates = []
        for region in _regions(module, backend):
            delegates += _compiled(module, region, backend)
        if not delegates:
            reasons = dict.fromkeys(n.meta["not_on"].get(backend.name, "") for n in _ops(module))
            said = "; ".join([*filter(None, reasons)][:_SHOWN_REASONS])
            logging.warning("%s runs nothing of the model: %s", backend.name, said)
        cut(module, delegates)


def _ops(module: GraphModule) -> list[Node]:
    nodes = module.graph.nodes
    return [n for n in nodes if n.op == "call_function" and not is_result(n)]


def _regions(module: GraphModule, backend: Backend) -> list[list[Node]]:
    taken = []
    for node in _ops(module):
        reason = _unfit(node, backend) or _ask(backend, "reject", [node], node)
        if reason:
            node.meta["not_on"][backend.name] = reason
        else:
            taken += [node, *(n for n in results_of(node) if n is not node)]
    kept = []
    for region in convex_regions(module.graph, taken):
        ops = [n for n in region if not is_result(n)]
        reason = _left(backend, ops)
        if reason:
            _leave(ops, backend, reason)
        else:
            kept.append(region)
    return kept


def _unfit(node: Node, backend: Backend) -> str:
    """Return a reason against delegating a node, apart from the engine's own checks."""
    op = dialect_op(node)
    if op is None:
        return "it has no int8 form"
    sources = inputs_of(node)
    if not sources:
        return "it reads constants only"
    if not node.users:
        return "nothing reads its result"
    traits = backend.traits.get(op.name, Traits())
    dtypes = dict.fromkeys(backend.dtypes + (torch.int16,) * traits.int16)
    for value in (*sources, *results_of(node)):
        tensor = value.meta["val"]
        if isinstance(tensor, torch.Tensor) and tensor.dtype not in dtypes:
            taken = ", ".join(str(d).removeprefix("torch.") for d in dtypes)
            return f"`{value.name}` is {describe(tensor)}; it takes {taken}"
        if isinstance(tensor, torch.Tensor) and is_channels_last(tensor):
            return f"`{value.name}` lies in memory in another order than its dimensions"
    return _missing_trait(node, traits)


def _missing_trait(node: Node, traits: Traits) -> str:
    """Return a trait required by the backend but not provided by the quantizer."""
    around = [*node.all_input_nodes, *results_of(node)]
    values = [n for n in around if edge_of(n).quantization is not None]
    if traits.zero_point_0:
        for value in values:
            if edge_of(value).zero_point:
                return f"`{value.name}` has zero_point {edge_of(value).zero_point}, not 0"
    if traits.shares_quantization:
        for value in values:
            if edge_of(value).quantization != edge_of(values[0]).quantization:
                return f"`{value.name}` and `{values[0].name}` differ in scale or zero_point"
    if traits.weights_per_tensor:
        module = node.graph.owning_module
        assert module is not None
        for name in ("multiplier", "shift"):
            constant = tensor_constant(module, arguments(node)[name])
            if constant is None or bool((constant != constant[0]).any()):
                return "the channels of its weights differ in scale"
    return ""


def _compiled(
    module: GraphModule,
    region: Region,
    backend: Backend,
    cuts: Sequence[str] = (),
    placed: bool = False,
) -> list[tuple[Region, Delegate]]:
    """Return a region's delegates: one, or several if the backend rejects the whole.

    Args:
      cuts: the reasons for cutting it out of a larger region, cut by cut.
      placed: True if the backend chose it out of a larger region.
    """
    ops = [n for n in region if not is_result(n)]
    graph = extract(module, region)
    if backend.adopt is not None:
        _call(backend, "adopt", ops, graph)
    if backend.place is not None and not placed:
        left = _call(backend, "place", ops, copy.deepcopy(graph))
        if problem := _placement_problem(left, ops):
            raise LoweringError(_message(backend, "place", ops, problem))
        if left:
            return _parts(module, region, graph, backend, cuts, left)
    try:
        # Compile a copy: the backend's changes to its graph are not part of the reference.
        payload = _call(backend, "compile", ops, copy.deepcopy(graph))
    except CannotRun as cannot:
        return _cut(module, region, backend, cuts, cannot)
    except NotWorth as left:
        _leave(ops, backend, left.reason)
        return []
    for node in ops:
        node.meta["runs_on"] = backend.name
    for node in _ops(graph):
        node.meta["runs_on"] = backend.name
    if problem := _payload_problem(payload):
        raise LoweringError(_message(backend, "compile", ops, problem))
    if cuts:
        payload = replace(payload, report={**payload.report, "cuts": list(cuts)})
    return [(region, Delegate(graph, backend.delegate_id, payload))]


def _parts(
    module: GraphModule,
    region: Region,
    graph: GraphModule,
    backend: Backend,
    cuts: Sequence[str],
    left: Mapping[str, str],
) -> list[tuple[Region, Delegate]]:
    """Return the delegates of a region without the ops left to the next engine.

    Args:
      graph: the region's own.
      left: the reasons, by name of the op.
    """
    for node in region:
        if node.name in left:
            _leave([node], backend, left[node.name])
    taken = [n for n in graph.graph.nodes if n.op == "call_function" and n.name not in left]
    taken = [n for n in taken if taken_from(n)[0].name not in left]
    nodes = {n.name: n for n in region}
    delegates = []
    for part in convex_regions(graph.graph, taken):
        own = [nodes[n.name] for n in part]
        delegates += _compiled(module, own, backend, cuts, placed=True)
    return delegates


def _cut(
    module: GraphModule,
    region: Region,
    backend: Backend,
    cuts: Sequence[str],
    cannot: CannotRun,
) -> list[tuple[Region, Delegate]]:
    """Split a region before the op that the backend rejects.

    Like the region, both are convex in the order of the graph.
    """
    names = [n.name for n in region]
    if cannot.node not in names:
        ops = [n for n in region if not is_result(n)]
        problem = f"it names the op {cannot.node!r}, which the region does not have"
        raise LoweringError(_message(backend, "compile", ops, problem))
    at = names.index(cannot.node)
    if at == 0:
        own = set(results_of(region[0])) | {region[0]}
        region[0].meta["not_on"][backend.name] = cannot.reason
        parts, why = [[n for n in region if n not in own]], cuts
        logging.warning("%s: `%s` is left out: %s", backend.name, names[0], cannot.reason)
    else:
        parts = [list(region[:at]), list(region[at:])]
        between = sum(_bytes(n) for n in results_of_region(parts[0]) if set(n.users) & {*parts[1]})
        cost = f"one more delegate, {between} bytes passed between them"
        why = [*cuts, f"before `{cannot.node}`: {cannot.reason}. Cost: {cost}"]
        logging.warning("%s: a region is cut %s", backend.name, why[-1])
    delegates = []
    for part in parts:
        ops = [n for n in part if not is_result(n)]
        reason = _left(backend, ops) if ops else ""
        if reason:
            _leave(ops, backend, reason)
        elif ops:
            delegates += _compiled(module, part, backend, why)
    return delegates


def _left(backend: Backend, ops: Sequence[Node]) -> str:
    """Return the backend's reason to leave a region on the core although it supports each op."""
    return _ask(backend, "reject_region", ops, ops) or _ask(backend, "not_worth", ops, ops)


def _leave(ops: Sequence[Node], backend: Backend, reason: str) -> None:
    for node in ops:
        node.meta["not_on"][backend.name] = reason
        node.meta["could_run_on"].append(backend.name)


def _bytes(node: Node) -> int:
    value: torch.Tensor = node.meta["val"]
    return value.numel() * value.element_size()


def _placement_problem(left: Any, ops: Sequence[Node]) -> str:
    if not isinstance(left, Mapping) or not all(isinstance(v, str) and v for v in left.values()):
        return f"it gives {left!r}, not reasons by name"
    names = {n.name for n in ops}
    unknown = [name for name in left if name not in names]
    return f"it names the op {unknown[0]!r}, which the region does not have" if unknown else ""


def _payload_problem(payload: Any) -> str:
    if not isinstance(payload, DelegatePayload):
        return f"it gives {describe(payload)}, not a Payload (aot/dialect/delegate.py)"
    given: dict[str, Any] = vars(payload)
    if not isinstance(given["data"], bytes) or not given["data"]:
        return f"its data are {given['data']!r:.40}, not the bytes of a payload"
    if not isinstance(given["configuration"], str):
        return f"its configuration is {given['configuration']!r}, not a text"
    numbers = "scratch_bytes", "alignment", "cache_bytes"
    for name in numbers:
        if type(given[name]) is not int:
            return f"its {name} is {given[name]!r}, not a number of bytes"
    try:
        Needs(given["configuration"], *(given[name] for name in numbers))
    except ValueError as error:
        return f"it asks for what no device can give: {error}"
    specs, report = given["compile_specs"], given["report"]
    if not isinstance(specs, Mapping) or not all(
        isinstance(k, str) and isinstance(v, bytes) for k, v in specs.items()
    ):
        return f"its compile_specs are {specs!r}, not texts with bytes"
    if taken := specs.keys() & Needs().compile_specs().keys():
        return f"its compile_specs have {min(taken)}, which its other attributes say"
    try:
        json.dumps(dict(report), allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"its report cannot be written as JSON: {error}"
    return ""


def _ask(backend: Backend, hook: str, ops: Sequence[Node], argument: Any) -> str:
    reason = _call(backend, hook, ops, argument)
    if not isinstance(reason, str):
        problem = f"it gives {reason!r}, not a reason or ''"
        raise LoweringError(_message(backend, hook, ops, problem))
    return reason


def _call(backend: Backend, hook: str, ops: Sequence[Node], argument: Any) -> Any:
    function: Callable[[Any], Any] = getattr(backend, hook)
    try:
        return function(argument)
    except (CannotRun, NotWorth):
        raise
    except Exception as error:
        raise LoweringError(_message(backend, hook, ops, raised(error))) from error


def _message(backend: Backend, hook: str, ops: Sequence[Node], problem: str) -> str:
    lines = [f"`{hook}` of backend {backend.name!r} fails: {problem}", "  for"]
    for node in ops[:_SHOWN_OPS]:
        where = place(node.meta["origin"].module, node.meta["origin"].source)
        lines.append(
            f"  {node.target} `{node.name}` -> {describe(node.meta['val'])}"
            + (f", at {where}" if where else "")
        )
    if len(ops) > _SHOWN_OPS:
        lines.append(f"  and {len(ops) - _SHOWN_OPS} more")
    return "\n".join(lines)
