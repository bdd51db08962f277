# SPDX-License-Identifier: Apache-2.0
"""XNNPACK's quantizer from ExecuTorch, applied before Pilotlight's: no crash, and no op becomes
float.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn
from torch.fx import GraphModule

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Quantize
from aot.testing.fixtures import lower_with, model, samples
from aot.upstream.torchao import Quantizer


def quantizer(per_channel: bool) -> Quantizer:
    config = get_symmetric_quantization_config(is_per_channel=per_channel)
    return XNNPACKQuantizer().set_global(config)


IMAGE, ROWS = (1, 2, 8, 8), (1, 5, 8)
NETS: Mapping[str, tuple[tuple[int, ...], Callable[..., torch.Tensor], Callable[[], nn.Module]]] = {
    "linear and relu": (ROWS, lambda a, x: F.relu(a(x)) * 0.5, lambda: nn.Linear(8, 6)),
    "linear and relu6": (ROWS, lambda a, x: F.relu6(a(x)), lambda: nn.Linear(8, 6)),
    "a sum and relu": (IMAGE, lambda a, x: F.relu(x + a(x)), lambda: nn.Conv2d(2, 2, 3, 1, 1)),
    "a product and relu": (IMAGE, lambda a, x: F.relu(x * a(x)), lambda: nn.Conv2d(2, 2, 3, 1, 1)),
    "pools": (
        IMAGE,
        lambda a, x: F.adaptive_avg_pool2d(F.max_pool2d(a(x), 2), 1).flatten(1),
        lambda: nn.Conv2d(2, 6, 3),
    ),
    "a pool's module": (IMAGE, lambda a, x: a(x) * 2.0, lambda: nn.AdaptiveAvgPool2d(1)),
    "a part of an image": (IMAGE, lambda a, x: a(x), lambda: nn.AdaptiveAvgPool2d(2)),
    "a recurrent layer": (ROWS, lambda a, x: a(x)[0], lambda: nn.GRU(8, 8, batch_first=True)),
    "a norm": (ROWS, lambda a, x: F.silu(a(x)), lambda: nn.LayerNorm(8)),
}


def together(*values: Any) -> list[torch.Tensor]:
    """Run the nets in parallel. The arguments are their layers, then one input for each."""
    layers, inputs = values[: len(NETS)], values[len(NETS) :]
    nets = zip(NETS.values(), layers, inputs, strict=True)
    return [function(layer, x) for (_, function, _), layer, x in nets]


@pytest.mark.parametrize("per_channel", [False, True])
def test_all_is_int8(per_channel: bool) -> None:
    """All nets are in one model, because this quantizer exports its patterns again for
    each model.
    """
    data = samples(*(shape for shape, _, _ in NETS.values()), count=24)
    asked = {"quantizer": quantizer(per_channel), "per_op": False, "min_agreement": 0.0}
    layers = [make() for _, _, make in NETS.values()]
    result = lower_with(model(together, *layers), data[0], calibration=data, **asked)
    assert result.report["float_ops"] == 0
    found = {name: o.sqnr_db for name, o in zip(NETS, result.quality.outputs, strict=True)}
    assert {name for name, sqnr in found.items() if (sqnr or 0.0) <= 28.0} == set(), found


class Failing(Quantizer):  # type: ignore[misc]
    def annotate(self, model: GraphModule) -> GraphModule:
        raise ValueError("no such operator")

    def validate(self, model: GraphModule) -> None:
        pass


def test_what_a_quantizer_raises_is_an_error_that_names_it() -> None:
    data = samples(ROWS, count=2)
    with pytest.raises(LoweringError, match="Failing cannot annotate .* ValueError: no such"):
        lower(
            nn.Linear(8, 2).eval(),
            data[0],
            calibration=data,
            quantize=Quantize(quantizer=Failing()),
        )
