# SPDX-License-Identifier: Apache-2.0
"""What a case must give: the dialect's reference, or torch for the float32 ops that stay ATen."""

from typing import Any

import numpy as np
import torch

import aot.dialect.ops  # noqa: F401 (registers torch.ops.pl)
from kernels.common.kernel import AnyArray
from kernels.testing.case import Case

_ATEN: dict[str, Any] = {
    "aten::amax.out": torch.ops.aten.amax.default,
    "aten::amin.out": torch.ops.aten.amin.default,
    "aten::bmm.out": torch.ops.aten.bmm.default,
    "aten::div.out": torch.ops.aten.div.Tensor,
    "aten::maximum.out": torch.ops.aten.maximum.default,
    "aten::minimum.out": torch.ops.aten.minimum.default,
    "aten::native_group_norm.out": torch.ops.aten.native_group_norm.default,
    "aten::native_layer_norm.out": torch.ops.aten.native_layer_norm.default,
    "aten::pow.Tensor_Scalar_out": torch.ops.aten.pow.Tensor_Scalar,
    "aten::sum.IntList_out": torch.ops.aten.sum.dim_IntList,
}


def expected_outputs(case: Case) -> list[AnyArray]:
    """Int8 results exactly; float32 results computed in float64 and rounded once."""
    exact = case.op.startswith("pl::")

    def tensor(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            loaded = torch.from_numpy(np.ascontiguousarray(value))
            return loaded if exact or loaded.dtype != torch.float32 else loaded.double()
        if isinstance(value, (list, tuple)):
            return [tensor(item) for item in value]
        return value

    arguments = {**case.inputs, **case.constants, **case.attributes}
    function = getattr(torch.ops.pl, case.op[4:]).default if exact else _ATEN[case.op]
    result = function(**{name: tensor(value) for name, value in arguments.items()})
    results = result if isinstance(result, (list, tuple)) else [result]
    return [_array(item) for item in results]


def _array(result: torch.Tensor) -> AnyArray:
    contiguous = result.contiguous()
    if contiguous.dtype == torch.float64:
        contiguous = contiguous.float()
    array: AnyArray = contiguous.numpy()
    return array
