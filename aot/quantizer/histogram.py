# SPDX-License-Identifier: Apache-2.0
"""torchao's histogram observer with a range search that takes milliseconds."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
import torch

from aot.upstream.torchao import HistogramObserver

_STEP = 1e-5  # of the quantiles, as in torchao
# The quantiles, added up one by one: rounded as torchao's are.
_STEPS = np.full(round(1 / _STEP) + 2, _STEP)
_ALPHAS = np.concatenate([[0.0], np.cumsum(_STEPS)])
_BETAS = np.subtract.accumulate(np.concatenate([[1.0], _STEPS]))
_LAST = len(_BETAS) - 1


_SMALL = 2.0**-20
"""Smallest range whose search matches torchao's to the bit."""


class FastHistogramObserver(HistogramObserver):  # type: ignore[misc]
    """Observer with exactly the range of HistogramObserver.

    It returns the full range if the error of a bin is beyond float32.

    torchao takes a hundred thousand steps and compares one-element tensors in each. The effect of a
    step of either quantile is known beforehand, and most steps have none. torchao also searches the
    new histogram for each of 32,768 old bins. Both are sorted, so the search is short.
    """

    min_val: torch.Tensor
    max_val: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ends = torch.aminmax(x.detach()) if x.numel() else None
        if ends is None or not all(map(math.isfinite, ends)):
            return super().forward(x)  # type: ignore[no-any-return]
        low, high = torch.min(self.min_val, ends[0]), torch.max(self.max_val, ends[1])
        counts = self._counts(x.detach(), low, high)
        if self.min_val <= self.max_val:  # not so before the first value
            before = self.histogram, self.min_val, self.max_val
            counts = self._combine_histograms(*before, counts, low, high)
        for mine, new in ((self.histogram, counts), (self.min_val, low), (self.max_val, high)):
            mine.copy_(new)
        return x

    def _counts(self, x: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        """Return the result of torch.histc for values within a range."""
        span = high - low
        if not 0.0 < float(span * self.bins) < math.inf:
            return torch.histc(x, self.bins, min=low, max=high)  # type: ignore[arg-type]
        places = ((x - low) * self.bins).div_(span).flatten().to(torch.int32)
        counts = np.bincount(places.numpy(), minlength=self.bins + 1)
        counts[-2] += counts[-1]  # the last part has its end, too
        return torch.from_numpy(counts[:-1]).to(torch.float32)

    def _upscale_histogram(
        self,
        histogram: torch.Tensor,
        orig_min: torch.Tensor,
        orig_max: torch.Tensor,
        update_min: torch.Tensor,
        update_max: torch.Tensor,
    ) -> torch.Tensor:
        parts = self.bins * self.upsample_rate
        half = 0.5 * ((orig_max - orig_min) / parts)
        centers = (torch.linspace(orig_min, orig_max, parts + 1)[:-1] + half).numpy()
        borders = torch.linspace(update_min, update_max, self.bins + 1).numpy()
        if not (_is_sorted(centers) and _is_sorted(borders)):  # if steps are close to float32's
            args = histogram, orig_min, orig_max, update_min, update_max
            return super()._upscale_histogram(*args)  # type: ignore[no-any-return]
        starts = centers.searchsorted(borders[1:-1], "left")
        bins = np.repeat(np.arange(self.bins), np.diff(starts, prepend=0, append=parts))
        shares = histogram.repeat_interleave(self.upsample_rate) / self.upsample_rate
        return torch.bincount(torch.from_numpy(bins), weights=shares, minlength=self.bins)

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the range with the smallest error.

        Small values are first scaled by a power of two, because the cubes of bins below 1e-13 do
        not fit float32.
        """
        ends = self.min_val, self.max_val
        span = ends[1] - ends[0]
        if float(span) >= _SMALL:
            return self._searched()
        exponent = torch.frexp(span).exponent
        self.min_val, self.max_val = (torch.ldexp(end, -exponent) for end in ends)
        try:
            low, high = self._searched()
        finally:
            self.min_val, self.max_val = ends
        return torch.ldexp(low, exponent), torch.ldexp(high, exponent)

    def _searched(self) -> tuple[torch.Tensor, torch.Tensor]:
        total = torch.sum(self.histogram).item()
        cumulative = torch.cumsum(self.histogram, dim=0).numpy()

        def low(step: int) -> np.float32:
            """Return the amount below the lower quantile, compared in float32 as in torch."""
            return np.float32(_ALPHAS[step] * total)

        def high(step: int) -> np.float32:
            return np.float32(_BETAS[step] * total)

        start, end = 0, self.bins - 1
        least = float("inf")
        a = b = 0
        while _ALPHAS[a] < _BETAS[b]:
            left = min(max(int(cumulative.searchsorted(low(a + 1), "left")), start), end)
            if left == start:  # the right end's turn, until it moves
                below = bisect_left(
                    range(_LAST + 1), cumulative[end], key=lambda s: high(_LAST - s)
                )
                b = max(b, _LAST - below)
                if _ALPHAS[a] >= _BETAS[b]:
                    break
            right = int(cumulative.searchsorted(high(b + 1), "right")) - 1
            right = min(max(right, start), end)
            if left - start > end - right:
                a, candidate = a + 1, (left, end)
            else:
                b, candidate = b + 1, (start, right)
            if candidate == (start, end):
                continue
            error = self._compute_quantization_error(*candidate)
            if error > least or not math.isfinite(error):
                break
            least, (start, end) = error, candidate

        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * start, self.min_val + width * (end + 1)


def _is_sorted(values: np.ndarray[Any, np.dtype[np.float32]]) -> bool:
    return bool((values[1:] >= values[:-1]).all())
