# SPDX-License-Identifier: Apache-2.0
"""Windows of convolutions and pools: sizes, strides, and padding before and after each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from aot.importers.onnx.call import NodeCall, UnsupportedNode


@dataclass(frozen=True)
class OnnxWindows:
    """One number for each spatial axis; `before` and `after` are the padding."""

    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    before: list[int]
    after: list[int]

    @classmethod
    def of(cls, call: NodeCall, x: torch.Tensor, kernel: Sequence[int]) -> OnnxWindows:
        """Return the windows of a node over an input [N, C, ...].

        Raises:
          Unsupported: the attributes contradict each other.
        """
        kernel = [*kernel]
        rank = len(kernel)
        stride = call.attribute("strides", [1] * rank)
        dilation = call.attribute("dilations", [1] * rank)
        pads = call.attribute("pads", [0] * 2 * rank)
        auto = call.attribute("auto_pad", "NOTSET")
        if not 1 <= rank <= 3 or x.dim() != rank + 2:
            raise UnsupportedNode(f"window {kernel} for an input of rank {x.dim()}")
        lengths = {len(stride), len(dilation), len(pads) / 2}
        if lengths != {rank} or min(*kernel, *stride, *dilation) < 1 or min(pads) < 0:
            raise UnsupportedNode(
                f"window {kernel}, stride {stride}, dilation {dilation}, pads {pads}"
            )
        if auto == "VALID":
            pads = [0] * 2 * rank
        elif auto != "NOTSET":
            pads = _same(auto, x.shape[2:], kernel, stride, dilation)
        return cls(kernel, stride, dilation, pads[:rank], pads[rank:])

    @property
    def is_even(self) -> bool:
        return self.before == self.after

    def padded(self, x: torch.Tensor, value: float = 0.0) -> torch.Tensor:
        """Return the input with the padding in it."""
        pairs = zip(reversed(self.before), reversed(self.after), strict=True)
        return F.pad(x, [size for pair in pairs for size in pair], value=value)


def _same(
    auto: str, sizes: Sequence[int], kernel: list[int], stride: list[int], dilation: list[int]
) -> list[int]:
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise UnsupportedNode(f"auto_pad {auto}")
    before, after = [], []
    for size, k, s, d in zip(sizes, kernel, stride, dilation, strict=True):
        total = max(0, (-(-int(size) // s) - 1) * s + (k - 1) * d + 1 - int(size))
        first = total // 2 if auto == "SAME_UPPER" else total - total // 2
        before.append(first)
        after.append(total - first)
    return [*before, *after]
