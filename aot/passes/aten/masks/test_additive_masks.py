# SPDX-License-Identifier: Apache-2.0
"""Additive masks reach a softmax as booleans, whatever stands in between; extremes, too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.passes.aten.attention.mask_softmax import mask_softmax
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.decompositions.rare_ops import decompose_rare_ops
from aot.passes.aten.masks.additive_masks import additive_masks
from aot.testing.fixtures import check_aten_pass, lower_with, model, op_counts

OFF, LEAST = -math.inf, torch.finfo(torch.float32).min
SIZE = 6
X = torch.randn((1, SIZE, SIZE), generator=torch.Generator().manual_seed(8))
HIDDEN = torch.tensor([[False] * 4 + [True] * 2])
BIAS = torch.randn((SIZE, SIZE), generator=torch.Generator().manual_seed(9))
CAUSAL = torch.full((SIZE, SIZE), OFF).triu(1)
Mask = Callable[[Tensor], Tensor]


def mask(k: Tensor, number: float = OFF) -> Tensor:
    return torch.zeros(1, 1, SIZE).masked_fill(k[:, None], number)


# name: addition to the scores, from a boolean mask that is an input
MASKS: dict[str, Mask] = {
    "as it is": mask,
    "finite": lambda k: mask(k, -1e9),
    "the least number": lambda k: mask(k, LEAST),
    "twice": lambda k: 2 * mask(k),
    "half": lambda k: mask(k, LEAST) / 2,
    "times a constant": lambda k: mask(k) * torch.linspace(1.0, 2.0, SIZE),
    "minus infinity above": lambda k: -mask(k, -OFF),
    "infinity subtracted": lambda k: BIAS - mask(k, -OFF),
    "bias": lambda k: BIAS + mask(k),
    "bias, finite": lambda k: BIAS + mask(k, LEAST),
    "bias, filled": lambda k: BIAS[None].masked_fill(k[:, None], OFF),
    "bias, chosen": lambda k: BIAS + torch.where(k, OFF, 0.0)[:, None],
    "mask, filled": lambda k: mask(k.flip(1)).masked_fill(k[:, None], OFF),
    "logarithm": lambda k: (~k).float().log()[:, None] + BIAS,
    "by a product": lambda k: (1.0 - (~k).float()[:, None]) * -1e9 + BIAS,
    "smaller of two": lambda k: torch.minimum(mask(k), CAUSAL),
    "larger of two": lambda k: torch.maximum(mask(k), CAUSAL),
    "two": lambda k: mask(k) + CAUSAL,
    "windows": lambda k: F.pad(mask(k)[0, 0], (SIZE - 1, 0)).unfold(0, SIZE, 1),
    "twice as large": lambda k: F.interpolate(mask(k)[..., None, :3], size=(1, SIZE))[..., 0, :],
    "looked up": lambda k: F.embedding(k.long().sum(1)[:, None] % SIZE, CAUSAL),
    "wrapped around": lambda k: F.pad(mask(k), (2, 0), mode="circular")[..., :SIZE],
    "padded": lambda k: F.pad(mask(k)[..., 1:], (1, 0)),
    "padded by a hidden one": lambda k: F.pad(mask(k)[..., 1:], (0, 1), value=OFF),
    "padded, booleans": lambda k: mask(F.pad(k[:, 2:], (1, 1))),
    "cropped by a pad": lambda k: F.pad(mask(k), (-1, 1)),
    "joined": lambda k: torch.cat([torch.zeros(1, 1, 2), mask(k)[..., 2:]], -1),
    "stacked": lambda k: torch.stack([mask(k)[0, 0], torch.zeros(SIZE)])[:1],
    "flipped": lambda k: mask(k).flip(-1),
    "rolled": lambda k: mask(k).roll(2, -1),
    "indexed": lambda k: mask(k)[..., torch.arange(SIZE - 1, -1, -1)],
    "gathered": lambda k: mask(k).gather(-1, torch.tensor([[[5, 4, 0, 1, 2, 3]]])),
    "selected": lambda k: mask(k).index_select(-1, torch.tensor([5, 4, 0, 1, 2, 3])),
    "expanded": lambda k: mask(k).expand(1, SIZE, SIZE).flip(-1),
    "clamped from above": lambda k: mask(k).clamp(max=1.0) + BIAS,
    "of two branches": lambda k: torch.where(k[:, :1], mask(k), mask(k.flip(1))),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_softmax_is_masked(name: str) -> None:
    def rewrite(module: torch.fx.GraphModule) -> int:
        fold_constants(module)
        decompose_rare_ops(module)
        additive_masks(module)
        count = mask_softmax(module)
        module.graph.eliminate_dead_code()
        return count

    def function(x: Tensor, k: Tensor) -> Tensor:
        return (x + MASKS[name](k)).softmax(-1)

    count, graph = check_aten_pass(rewrite, function, inputs=[X, HIDDEN], atol=1e-6)
    assert count == op_counts(graph)["pl_float.masked_softmax"] == 1
    used = {n.target for n in graph.graph.nodes if n.op == "get_attr"}
    far = [n for n, b in graph.named_buffers() if n in used and bool((b.float().abs() > 64).any())]
    assert not far


def data(size: int = 12, least: int = 8) -> list[tuple[Tensor, Tensor]]:
    """Return sequences of several lengths, with their padding masks."""
    generator = torch.Generator().manual_seed(3)
    lengths = [least + i % (size - least + 1) for i in range(24)]
    return [
        (torch.randn((1, size, 8), generator=generator), torch.arange(size)[None] >= length)
        for length in lengths
    ]


class Attention(nn.Module):
    """Torch's own attention, with a bias or added keys."""

    def __init__(self, bias: Tensor | None = None, **options: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, **options)
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        result: Tensor = self.attention(
            x, x, x, attn_mask=self.bias, key_padding_mask=padding, need_weights=False
        )[0]
        return result


def floats(padding: Tensor, number: float) -> Tensor:
    return torch.zeros(1, 1, padding.shape[1]).masked_fill(padding[:, None], number)


WIDE = torch.randn((12, 12), generator=torch.Generator().manual_seed(5))

# name: model of a sequence and its padding
LOWERED: dict[str, Callable[[], nn.Module]] = {
    "bias": lambda: Attention(WIDE),
    "zero attention": lambda: Attention(add_zero_attn=True),
    "learned key": lambda: Attention(add_bias_kv=True),
    "attention of finite numbers": lambda: model(
        lambda x, k: F.scaled_dot_product_attention(x, x, x, WIDE + floats(k, LEAST))
    ),
    "along rows": lambda: model(lambda x, k: (x + 2 * floats(k, OFF).mT).softmax(1)),
    "logarithm of a sum": lambda: model(lambda x, k: (x + 2 * floats(k, OFF).mT).logsumexp(1)),
    "the largest": lambda: model(lambda x, k: (x + (floats(k, OFF).mT + 1)).amax(1)),
    "the larger one": lambda: model(lambda x, k: torch.maximum(floats(k, OFF)[:, 0], x[..., 0])),
    "pooled": lambda: model(
        lambda x, k: (x + F.max_pool1d(floats(k, OFF), 3, 1, 1).mT + WIDE[:, :8]).softmax(1)
    ),
    "pooled values": lambda: model(
        lambda x, k: F.adaptive_max_pool1d(x.mT + floats(k, -1e9), 5).exp()
    ),
    "by hand": lambda: model(
        lambda x, k: F.softmax((y := x @ x.mT + 2 * floats(k, OFF)) - y.max(-1, True)[0], -1) @ x
    ),
}


@pytest.mark.parametrize("name", LOWERED)
def test_padding_has_no_weight(name: str) -> None:
    torch.manual_seed(0)
    samples = data()
    lowered = lower(
        LOWERED[name]().eval(), samples[0], calibration=samples, measure=Measure(per_op=False)
    )
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 28.0


def test_few_of_many_are_padding() -> None:
    """Two of 32 with weight cost the rest little: 17.6 dB."""
    torch.manual_seed(0)
    samples = data(32, 30)
    bias = torch.randn((32, 32), generator=torch.Generator().manual_seed(6)) * 0.1
    lowered = lower(
        Attention(bias).eval(), samples[0], calibration=samples, measure=Measure(per_op=False)
    )
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 26.0


X_MAX: dict[str, Callable[..., Tensor]] = {
    "softmax": lambda x, y: F.softmax(x - x.max(1, keepdim=True)[0], -1),
    "place": lambda x, y: (y + x.max(1, keepdim=True)[0]).argmax(-1),
    "largest": lambda x, y: (y - x.sort(1)[0][:, -1:]).amax(-1),
    "several": lambda x, y: (y + x.max(1, keepdim=True)[0]).topk(2)[0],
    "parts": lambda x, y: F.softmax(x.split(3, 1)[0] + y.split(3, 1)[1], -1),
    "logarithm of a sum": lambda x, y: (
        (x - (m := x.max(1, keepdim=True)[0])).exp().sum(1, keepdim=True).log() + m
    ),
}


@pytest.mark.parametrize("name", X_MAX)
def test_the_largest_is_subtracted_by_hand(name: str) -> None:
    generator = torch.Generator().manual_seed(4)
    samples = [tuple(torch.randn((2, 4, 6), generator=generator)) for _ in range(16)]
    lowered = lower(
        model(X_MAX[name]), samples[0], calibration=samples, measure=Measure(per_op=False)
    )
    assert (lowered.quality.outputs[0].sqnr_db or 60.0) > 34.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x, k: (x + floats(k, OFF).mT).mean(1),
        lambda x, k: x.mT @ (x + 2 * floats(k, OFF).mT),
        lambda x, k: (x + floats(k, OFF).mT) * x,
    ],
)
def test_refuses_arithmetic_of_infinite_numbers(function: Callable[..., Tensor]) -> None:
    samples = data()
    with pytest.raises(LoweringError, match="infinite numbers where a mask hides") as caught:
        lower(model(function), samples[0], calibration=samples)
    assert "\n    at " in str(caught.value)


@pytest.mark.parametrize("quantization", ["int8", "int16"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, k: x + floats(k, OFF).mT,
        lambda x, k: WIDE + torch.where(k, OFF, 0.0)[:, None],
        lambda x, k: torch.where(k, -OFF, 2.0),
        lambda x, k: (~k).float().log() - 1.0,
        lambda x, k: x - 1.0 / (~k).float()[..., None],
    ],
)
def test_infinity_that_is_returned_saturates(
    function: Callable[..., Tensor], quantization: str
) -> None:
    samples = data()
    options: dict[str, Any] = {"quantization": quantization, "min_sqnr": OFF, "per_op": False}
    lowered = lower_with(model(function), samples[0], calibration=samples, **options)
    (output,) = lowered.quality.outputs
    assert output.endless and (output.sqnr_db is None or output.sqnr_db > 35.0)
    (given,) = lowered.dequantize_outputs(lowered.reference(samples[0]))
    expected = function(*samples[0])
    finite = expected.isfinite()
    (sign,) = expected[~finite].sign().unique()
    assert (given[~finite] * sign).min() > (given[finite] * sign).max()
