# SPDX-License-Identifier: Apache-2.0
"""Expected results of a case: the dialect's reference, or torch for float32 ops that stay ATen."""

from typing import Any

import numpy as np
import torch

import kernels.ops  # noqa: F401 (registers torch.ops.pl)
from aot.upstream.torch import tree_map_only
from kernels.common.kernel import AnyArray
from kernels.testing.case import Case


def expected_outputs(case: Case) -> list[AnyArray]:
    """Return int8 results exactly, float32 results computed in float64 and rounded once."""
    exact = case.reference is not None or case.op.startswith("pl::")
    arguments = tree_map_only(
        torch.Tensor,
        lambda t: t if exact or t.dtype != torch.float32 else t.double(),
        arguments_of(case),
    )
    result = (case.reference or _overload(case.op))(**arguments)
    results = result if isinstance(result, (list, tuple)) else [result]
    return [_array(item) for item in results]


def arguments_of(case: Case) -> dict[str, Any]:
    """Return the arguments of a case by name, its arrays as tensors."""

    def value(given: Any) -> Any:
        if isinstance(given, np.ndarray):
            return torch.from_numpy(np.array(given, order="C"))  # keeps rank 0
        return [value(item) for item in given] if isinstance(given, (list, tuple)) else given

    return {
        name: value(given)
        for name, given in {**case.inputs, **case.constants, **case.attributes}.items()
    }


def _overload(op: str) -> Any:
    """Return the functional overload of an op.

    Examples are "pl::conv2d", and "aten::sum.IntList_out", an overload with an output argument. Its
    functional sister returns the result.
    """
    namespace, _, name = op.partition("::")
    packet_name, _, overload = name.partition(".")
    packet = getattr(getattr(torch.ops, namespace), packet_name)
    if not overload:
        return packet.default
    overloads = [getattr(packet, sister) for sister in packet.overloads()]
    (functional,) = (
        sister
        for sister in overloads
        if not sister._schema.is_mutable and _inputs(sister) == _inputs(getattr(packet, overload))
    )
    return functional


def _inputs(overload: Any) -> list[tuple[str, str]]:
    """Return names and types of the read-only arguments of an overload."""
    return [(a.name, str(a.type)) for a in overload._schema.arguments if not a.is_out]


def _array(result: torch.Tensor) -> AnyArray:
    contiguous = result.contiguous()
    if contiguous.dtype == torch.float64:
        contiguous = contiguous.float()
    array: AnyArray = contiguous.numpy()
    return array
