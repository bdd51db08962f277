# SPDX-License-Identifier: Apache-2.0
"""Networks with attention: their lowered ops, and their distance from float."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.dialect.graph import dialect_op
from aot.lower import Lowered, lower

Samples = list[tuple[torch.Tensor, ...]]


class WhisperAttention(nn.Module):
    """Attention as written in whisper: three layers, the one for keys without bias."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        depth = width // self.heads
        split = (batch, length, self.heads, depth)
        query = self.query(x).view(*split).permute(0, 2, 1, 3) * depth**-0.25
        key = self.key(x).view(*split).permute(0, 2, 3, 1) * depth**-0.25
        value = self.value(x).view(*split).permute(0, 2, 1, 3)
        weights = F.softmax(query @ key, dim=-1)
        mixed: torch.Tensor = self.out((weights @ value).permute(0, 2, 1, 3).flatten(start_dim=2))
        return mixed


class WhisperLayer(nn.Module):
    """A layer of the encoder of whisper-tiny."""

    def __init__(self, width: int = 384, heads: int = 6) -> None:
        super().__init__()
        self.attention = WhisperAttention(width, heads)
        self.attention_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.mlp_norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        mixed: torch.Tensor = x + self.mlp(self.mlp_norm(x))
        return mixed


class VisionTransformer(nn.Module):
    """Patches of an image, a class token, positions, and blocks with one layer for all heads."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 48, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, 48) * 0.5)
        self.positions = nn.Parameter(torch.randn(1, 17, 48) * 0.5)
        block = nn.TransformerEncoderLayer(
            48, 4, 96, batch_first=True, activation=functools.partial(F.gelu, approximate="tanh")
        )
        self.blocks = nn.TransformerEncoder(block, 1)
        self.head = nn.Linear(48, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(len(x), -1, -1), x), dim=1) + self.positions
        logits: torch.Tensor = self.head(self.blocks(x)[:, 0])
        return logits


class KeywordTransformer(nn.Module):
    """Spectrogram frames as tokens, the last two of them padding."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Linear(20, 32)
        self.positions = nn.Embedding(16, 32)
        block = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 12)
        self.register_buffer("padding", torch.arange(16)[None] >= 14)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.frames(x) + self.positions(torch.arange(16))
        logits: torch.Tensor = self.head(self.blocks(x, src_key_padding_mask=self.padding).mean(1))
        return logits


class LanguageModel(nn.Module):
    """Indices of tokens to logits of the next one; the last layer's weights are the table."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(40, 32)
        self.positions = nn.Embedding(12, 32)
        self.blocks = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, activation="gelu"), 1
        )
        self.head = nn.Linear(32, 40, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(12))

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        x = self.tokens(indices) + self.positions(torch.arange(12))
        logits: torch.Tensor = self.head(self.blocks(x, mask=self.mask))
        return logits


class Detector(nn.Module):
    """Detects objects in a feature map. The attention between the learned queries is known before
    the model runs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, 4, 16))
        self.layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)
        self.boxes = nn.Linear(16, 4)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        queries = self.queries.expand(features.shape[0], -1, -1)
        return torch.sigmoid(self.boxes(self.layer(queries, features)))


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


# name: the network, how an input is drawn, dialect ops, the least signal to noise in dB.
NETWORKS: dict[
    str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor], dict[str, int], float]
] = {
    # The heads of an attention are joined by the convolution that replaces its last layer.
    "whisper": (
        WhisperLayer,
        functools.partial(normal, 1, 12, 384),
        {"linear": 5, "conv2d": 1, "bmm": 2, "softmax": 1, "lut": 1, "add": 2, "transpose": 0},
        34.0,
    ),
    "vision": (
        VisionTransformer,
        functools.partial(normal, 1, 3, 16, 16),
        {"conv2d": 2, "cat": 1, "linear": 6, "bmm": 2, "softmax": 1, "lut": 1, "add": 3},
        29.0,
    ),
    "keywords": (
        KeywordTransformer,
        functools.partial(normal, 1, 16, 20),
        {"linear": 12, "conv2d": 2, "bmm": 4, "masked_softmax": 2, "add": 5, "mean": 1},
        36.0,
    ),
    "language": (
        LanguageModel,
        functools.partial(torch.randint, 0, 40, (1, 12)),
        {
            "embedding": 1,
            "linear": 6,
            "conv2d": 1,
            "bmm": 2,
            "masked_softmax": 1,
            "lut": 1,
            "add": 3,
        },
        31.0,
    ),
    "detector": (
        Detector,
        functools.partial(normal, 1, 10, 16),
        {"linear": 5, "conv2d": 1, "bmm": 2, "softmax": 1, "normalize": 2, "lut": 1},
        40.0,
    ),
}


@functools.cache
def lowered(name: str) -> tuple[nn.Module, Samples, Lowered]:
    factory, draw, _, _ = NETWORKS[name]
    torch.manual_seed(0)
    network = factory().eval()
    samples: Samples = [(draw(),) for _ in range(12)]
    result = lower(network, samples[0], calibration=samples[:8])
    return network, samples[8:], result


@pytest.mark.parametrize("name", NETWORKS)
def test_becomes_whole_ops(name: str) -> None:
    _, _, result = lowered(name)
    ops = Counter(op.name for n in result.module.graph.nodes if (op := dialect_op(n)) is not None)
    expected = NETWORKS[name][2]
    assert {op: ops[op] for op in expected} == expected


@pytest.mark.parametrize("name", NETWORKS)
def test_is_close_to_float(name: str) -> None:
    network, held_out, result = lowered(name)
    signal = noise = 0.0
    for sample in held_out:
        with torch.no_grad():
            expected = network(*sample)
        (actual,) = result.dequantize_outputs(result.reference(sample))
        signal += float(expected.square().sum())
        noise += float((actual - expected).square().sum())
    assert 10.0 * math.log10(signal / noise) > NETWORKS[name][3]


def test_an_index_outside_of_the_table_is_an_error() -> None:
    _, _, result = lowered("language")
    for index, message in ((40, "40 is outside the table of 40 rows"), (-1, "-1 is outside")):
        with pytest.raises(IndexError, match=message):
            result.reference((torch.full((1, 12), index),))
    with pytest.raises(ValueError, match="indices outside of int32"):
        result.reference((torch.full((1, 12), 2**40),))


class Masked(nn.Module):
    """Attention with a mask given with each input."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(x, x, x, mask)


@pytest.mark.parametrize(("is_bool", "error"), [(True, 1e-3), (False, 2e-3)])
def test_takes_masks_as_inputs(is_bool: bool, error: float) -> None:
    """Float masks take a part of the scores' range, boolean masks do not."""
    torch.manual_seed(1)
    kept = torch.rand(12, 1, 1, 8) < 0.6
    kept[:, ..., 0] = True
    masks = kept if is_bool else torch.zeros(kept.shape).masked_fill(~kept, -1e9)
    samples = [(torch.randn(1, 2, 8, 16), mask[None]) for mask in masks]
    result = lower(Masked().eval(), samples[0], calibration=samples[:8])
    for sample in samples[8:]:
        (actual,) = result.dequantize_outputs(result.reference(sample))
        noise = actual - Masked()(*sample)
        assert float(noise.square().mean()) < error * float(actual.square().mean())


class Padded(nn.Module):
    """A decoder's layer, with the padding of both sequences given."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)

    def forward(
        self, x: torch.Tensor, memory: torch.Tensor, padding: torch.Tensor, of_memory: torch.Tensor
    ) -> torch.Tensor:
        later = torch.ones(6, 6).triu(1) > 0
        result: torch.Tensor = self.layer(
            x,
            memory,
            tgt_mask=later,
            tgt_key_padding_mask=padding,
            memory_key_padding_mask=of_memory,
        )
        return result


def test_takes_padding_as_an_input() -> None:
    torch.manual_seed(1)
    network = Padded().eval()
    lengths = torch.randint(2, 7, (12, 2))
    samples = [
        (
            torch.randn(1, 6, 16),
            torch.randn(1, 5, 16),
            *(torch.arange(n)[None] >= k for n, k in pair),
        )
        for pair in (((6, a), (5, b)) for a, b in lengths)
    ]
    result = lower(network, samples[0], calibration=samples[:8])
    ops = Counter(op.name for n in result.module.graph.nodes if (op := dialect_op(n)) is not None)
    assert ops["masked_softmax"] == 2 and "softmax" not in ops
    for sample in samples[8:]:
        (actual,) = result.dequantize_outputs(result.reference(sample))
        noise = actual - network(*sample)
        assert float(noise.square().mean()) < 5e-3 * float(actual.square().mean())


def test_a_row_that_is_masked_whole_gives_zero() -> None:
    torch.manual_seed(1)
    kept = torch.ones(8, 8, dtype=torch.bool)
    samples = [(torch.randn(1, 2, 8, 16), kept) for _ in range(8)]
    result = lower(Masked().eval(), samples[0], calibration=samples)
    sample = (samples[0][0], kept.index_fill(0, torch.tensor(3), False))
    (actual,) = result.dequantize_outputs(result.reference(sample))
    assert not bool(actual[:, :, 3].any()) and bool(actual[:, :, 4].all(-1).any())
