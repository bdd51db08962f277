# SPDX-License-Identifier: Apache-2.0
"""Operators of torch's registry, with layouts as they lie in memory.

A .pte gives a call's arguments by position; names and types come from the operator's schema. A
tensor of a .pte may have another order in memory than its shape (channels_last: dim_order 0231).
From here on a tensor's shape is its memory order.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import kernels.ops  # noqa: F401  (registers torch.ops.pl)
from aot.upstream.torch import get_schema
from kernels.common.kernel import OpCall, Value

_PERMUTATIONS = {
    "pl::channels_last_to_nhwc": (0, 2, 3, 1),
    "pl::nhwc_to_channels_last": (0, 3, 1, 2),
}


@dataclass(frozen=True)
class Argument:
    """An argument. `kind` is TorchScript's type: "Tensor", "List[int]", "number" …"""

    name: str
    kind: str
    optional: bool


@dataclass(frozen=True)
class PlanOperator:
    """An operator.

    `name` includes a significant overload: "pl::conv2d", "aten::sum.IntList_out".
    """

    name: str
    arguments: tuple[Argument, ...]
    outputs: tuple[str, ...]


@functools.cache
def find(name: str, overload: str) -> PlanOperator | None:
    """Return the out-variant of this name; None if it does not exist."""
    try:
        schema = get_schema(name, overload)
    except RuntimeError:
        return None
    arguments = []
    for argument in schema.arguments:
        if not argument.is_out:
            kind = str(argument.type.annotation_str)
            optional = kind.startswith("Optional[")
            arguments.append(Argument(argument.name, kind[9:-1] if optional else kind, optional))
    outputs = tuple(argument.name for argument in schema.arguments if argument.is_out)
    if not outputs:
        return None
    return PlanOperator(kernel_name(name, overload), tuple(arguments), outputs)


def kernel_name(name: str, overload: str) -> str:
    """Return the key of the kernel registry."""
    return name if name.startswith("pl::") else f"{name}.{overload}"


def _permutation(call: OpCall) -> tuple[int, ...] | None:
    """Return the dimensions of a pure permutation, else None."""
    if call.op == "pl::transpose":
        perm = call.integers("perm", minimum=0)
        if sorted(perm) != list(range(len(perm))):
            raise call.error(f"perm {list(perm)} is not a permutation of the dimensions")
        return perm
    return _PERMUTATIONS.get(call.op)


def in_memory_order(call: OpCall, dim_orders: Mapping[str, tuple[int, ...]]) -> OpCall:
    """Return the call with shapes in memory order. `dim_orders` has tensors that are not row-major.

    Permutations become a `pl::transpose` of the memory order. All other ops need row-major tensors.
    """
    perm = _permutation(call)
    if perm is None:
        for value in (*_tensors(call), *call.outputs):
            if value.name in dim_orders:
                raise call.error(
                    f"{value.name} has dim_order {list(dim_orders[value.name])}; only "
                    f"pl::transpose and {', '.join(_PERMUTATIONS)} take such tensors"
                )
        return call
    source, result = call.tensor("input"), call.output()
    rank = len(perm)
    if len(source.shape) != rank or len(result.shape) != rank:
        raise call.error(f"{source.shape} to {result.shape} by {list(perm)}")
    identity = tuple(range(rank))
    source_order = dim_orders.get(source.name, identity)
    result_order = dim_orders.get(result.name, identity)
    memory_perm = [source_order.index(perm[dim]) for dim in result_order]
    if result.shape != tuple(source.shape[dim] for dim in memory_perm):
        raise call.error(f"{source.shape} to {result.shape} by {list(perm)}")
    return replace(call, op="pl::transpose", args={"input": source, "perm": memory_perm})


def _tensors(call: OpCall) -> list[Value]:
    found: list[Value] = []
    for argument in call.args.values():
        items = argument if isinstance(argument, list) else [argument]
        found.extend(item for item in items if isinstance(item, Value))
    return found
