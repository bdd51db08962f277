# SPDX-License-Identifier: Apache-2.0
"""Quality of a lowered model: accuracy if there are labels, signal to noise against float."""

from dataclasses import dataclass

import torch
from torch import nn

from aot.lower import Lowered


@dataclass(frozen=True)
class Accuracy:
    """Shares of the test set in [0, 1].

    Attributes:
      float32: right predictions of the float module.
      int8: right predictions of the lowered model's reference.
      agreement: equal predictions of both.
    """

    float32: float
    int8: float
    agreement: float


def accuracy(
    module: nn.Module, lowered: Lowered, inputs: torch.Tensor, labels: torch.Tensor
) -> Accuracy:
    """Run a classifier of one input over a test set, one inference per input.

    Args:
      module: the source of `lowered`.
      lowered: the largest value of its output [1, classes] is compared.
      inputs: float32 [N, ...].
      labels: int64 [N].
    """
    with torch.no_grad():
        expected = torch.cat([module(x).argmax(dim=1) for x in torch.split(inputs, 1)])
    actual = torch.cat([lowered.reference((x,))[0].argmax(dim=1) for x in torch.split(inputs, 1)])
    return Accuracy(
        (expected == labels).double().mean().item(),
        (actual == labels).double().mean().item(),
        (expected == actual).double().mean().item(),
    )


def sqnr_db(module: nn.Module, lowered: Lowered, samples: list[tuple[torch.Tensor, ...]]) -> float:
    """Return the signal to quantization noise ratio of the first output over all samples, in dB."""
    signal = noise = 0.0
    for sample in samples:
        with torch.no_grad():
            expected = module(*sample).double()
        (actual, *_) = lowered.dequantize_outputs(lowered.reference(sample))
        signal += expected.square().sum().item()
        noise += (actual.double() - expected).square().sum().item()
    return 10.0 * torch.log10(torch.tensor(signal / noise)).item()
