# SPDX-License-Identifier: Apache-2.0
"""Windows over NHWC images, for convolutions and pooling."""

import math
from dataclasses import dataclass, replace

import numpy as np

from kernels.common.kernel import AnyArray, Field, OpCall
from kernels.common.rows import ByRows, Taps


@dataclass(frozen=True)
class Windows:
    """Geometry of a call's windows. Pairs are (height, width); padding is as in the call.

    Kernel and stride count fractions of an element. `parts` is the number of fractions per element.
    """

    batches: int
    input: tuple[int, int]
    input_c: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    output: tuple[int, int]
    parts: tuple[int, int] = (1, 1)

    @classmethod
    def of_convolution(
        cls,
        call: OpCall,
        kernel: tuple[int, int],
        channels: int,
        dtype: str = "int8",
        shape: tuple[int, ...] | None = None,
    ) -> "Windows":
        """Return the windows of a call with arguments stride, padding and dilation, over its input
        by default.
        """
        stride = call.integers("stride", 2, minimum=1)
        padding = call.integers("padding", 4, minimum=0)
        dilation = call.integers("dilation", 2, minimum=1)
        n, h, w, c = call.tensor("input", dtype, rank=4).shape if shape is None else shape
        oh = _convolved(h, kernel[0], stride[0], padding[0] + padding[1], dilation[0])
        ow = _convolved(w, kernel[1], stride[1], padding[2] + padding[3], dilation[1])
        output = call.output(dtype, rank=4).shape
        call.require(
            output == (n, oh, ow, channels),
            f"output has shape {list(output)}, it should be {[n, oh, ow, channels]}",
        )
        return cls(n, (h, w), c, kernel, pair(stride), quad(padding), pair(dilation), (oh, ow))

    @classmethod
    def of_pooling(
        cls,
        call: OpCall,
        dilation: bool,
        dtype: str = "int8",
        parts: tuple[int, int] = (1, 1),
    ) -> "Windows":
        """Return the windows of a call with arguments kernel, stride, padding and output_size.

        Windows may reach past the padded input, but each has a tap inside the input.
        """
        kernel = call.integers("kernel", 2, minimum=1)
        stride = call.integers("stride", 2, minimum=1)
        padding = call.integers("padding", 4, minimum=0)
        dilations = call.integers("dilation", 2, minimum=1) if dilation else (1, 1)
        size = call.integers("output_size", 2, minimum=1)
        n, h, w, c = call.tensor("input", dtype, rank=4).shape
        output = call.output(dtype, rank=4).shape
        call.require(
            output == (n, *size, c),
            f"output has shape {list(output)}, it should be {[n, *size, c]}",
        )
        for d, (axis, length) in enumerate((("rows", h), ("columns", w))):
            for index in range(size[d]):
                start = index * stride[d] // parts[d] - padding[2 * d]
                reach = -(-(index * stride[d] % parts[d] + kernel[d]) // parts[d])
                taps = range(start, start + reach * dilations[d], dilations[d])
                call.require(
                    any(0 <= tap < length for tap in taps),
                    f"window {index} along the {axis} has no tap inside the input",
                )
        return cls(
            n,
            (h, w),
            c,
            pair(kernel),
            pair(stride),
            quad(padding),
            pair(dilations),
            pair(size),
            parts,
        )

    @property
    def cover_input(self) -> bool:
        """Every window is a whole pixel or a whole image, in order: rows of a matrix."""
        pixels = self.kernel == (1, 1) and self.stride == (1, 1)
        image = self.kernel == self.input and self.dilation == (1, 1)
        return self.padding == (0, 0, 0, 0) and (pixels or image)

    @property
    def in_a_row(self) -> "Windows | None":
        """The same pixels, each a window, in one row; None if windows are not pixels."""
        if self.kernel != (1, 1) or not self.cover_input:
            return None
        size = 1, self.batches * self.input[0] * self.input[1]
        return replace(self, batches=1, input=size, output=size)

    def in_blocks(self, most: int) -> "Windows | None":
        """Return the same pixel windows as an image with short rows.

        The row length is the largest divisor of the number of pixels up to `most`. Return None if
        the windows are not pixels, or if there is no divisor.
        """
        count = self.batches * self.input[0] * self.input[1]
        width = next((w for w in range(min(most, count), 1, -1) if count % w == 0), None)
        if width is None or width == count or self.kernel != (1, 1) or not self.cover_input:
            return None
        size = count // width, width
        return replace(self, batches=1, input=size, stride=(1, 1), output=size)

    def trimmed(self, weight: AnyArray, first: int) -> tuple["Windows", AnyArray]:
        """Return the windows and weights without outer taps that lie in the padding in every
        window.

        Whole rows and columns of taps are removed. They add nothing, because padding is the zero
        point.

        Args:
          weight: with axes [kernel_h, kernel_w] somewhere.
          first: the first of these axes.
        """
        windows = self
        for d in range(2):
            starts = np.arange(self.output[d]) * self.stride[d] - self.padding[2 * d]
            taps = np.arange(self.kernel[d]) * self.dilation[d]
            at = np.add.outer(taps, starts)
            inside = np.flatnonzero(((at >= 0) & (at < self.input[d])).any(axis=1))
            if len(inside) == 0:
                continue
            begin = min(int(inside[0]), self.padding[2 * d] // self.dilation[d])
            size = int(inside[-1]) + 1 - begin
            if size < self.kernel[d]:
                windows = windows._with_taps(d, begin, size)
                weight = weight.take(range(begin, begin + size), axis=first + d)
        return windows, np.ascontiguousarray(weight)

    def _with_taps(self, axis: int, begin: int, size: int) -> "Windows":
        """Return the windows with `size` taps along an axis, starting at the current
        tap `begin`.
        """
        dilation = self.dilation[axis] if size > 1 else 1
        before = self.padding[2 * axis] - begin * self.dilation[axis]
        reach = (self.output[axis] - 1) * self.stride[axis] + (size - 1) * dilation + 1
        after = max(0, reach - before - self.input[axis])
        if axis == 0:
            padding = (before, after, *self.padding[2:])
            kernel, dilations = (size, self.kernel[1]), (dilation, self.dilation[1])
        else:
            padding = (*self.padding[:2], before, after)
            kernel, dilations = (self.kernel[0], size), (self.dilation[0], dilation)
        return replace(self, kernel=kernel, padding=padding, dilation=dilations)

    def with_zero_taps(self, weight: AnyArray) -> tuple["Windows", AnyArray]:
        """Return the windows and weights without dilation along rows.

        Taps with zero weights fill the gaps between the current taps. They add nothing to the sums.

        Args:
          weight: [O, KH, KW, C].
        """
        outputs, kh, kw, channels = weight.shape
        step = self.dilation[1]
        width = (kw - 1) * step + 1
        dense = np.zeros((outputs, kh, width, channels), weight.dtype)
        dense[:, :, ::step] = weight
        return replace(self, kernel=(kh, width), dilation=(self.dilation[0], 1)), dense

    @property
    def lying(self) -> "Windows":
        """Return the same windows with a one-pixel-wide image turned into a row.

        Kernels work along rows. The order of the weights does not change.
        """
        columns = (self.input[1], self.kernel[1], *self.padding[2:], *self.parts)
        if columns != (1, 1, 0, 0, 1, 1):
            return self
        return replace(
            self,
            input=(1, self.input[0]),
            kernel=(1, self.kernel[0]),
            stride=(1, self.stride[0]),
            padding=(0, 0, *self.padding[:2]),
            dilation=(1, self.dilation[0]),
            output=(1, self.output[0]),
        )

    @property
    def turned(self) -> "Windows":
        """The same with rows in place of columns, and columns of rows."""

        def swap(pair: tuple[int, int]) -> tuple[int, int]:
            return pair[1], pair[0]

        return replace(
            self,
            input=swap(self.input),
            kernel=swap(self.kernel),
            stride=swap(self.stride),
            padding=(*self.padding[2:], *self.padding[:2]),
            dilation=swap(self.dilation),
            output=swap(self.output),
            parts=swap(self.parts),
        )

    @property
    def are_runs(self) -> bool:
        """Every window is one run of bytes of the input: a dense row or whole rows."""
        (kh, kw), (_, w) = self.kernel, self.input
        dense = self.dilation[1] == 1 or kw == 1
        whole = self.dilation[0] == 1 and kw == w
        return self.padding == (0, 0, 0, 0) and dense and (kh == 1 or whole)

    @property
    def are_inside(self) -> bool:
        """No window reaches out of the input."""
        return all(
            self.padding[2 * d] == 0
            and (self.output[d] - 1) * self.stride[d] + (self.kernel[d] - 1) * self.dilation[d]
            < self.input[d]
            for d in range(2)
        )

    @property
    def inside(self) -> tuple[int, int]:
        """Number of window rows inside the input, and number of such windows per row."""
        return self._inside(0), self._inside(1)

    def _inside(self, axis: int) -> int:
        starts = np.arange(self.output[axis]) * self.stride[axis] - self.padding[2 * axis]
        ends = starts + (self.kernel[axis] - 1) * self.dilation[axis]
        return int(((starts >= 0) & (ends < self.input[axis])).sum())

    @property
    def padded(self) -> float:
        """Share of the windows that reach out of the input."""
        return 1 - math.prod(self.inside) / math.prod(self.output)

    @property
    def starts(self) -> AnyArray:
        """No window reads a byte of the input before this one: [batches, *output]."""
        (h, w), c = self.input, self.input_c
        top, left = (
            np.maximum(
                np.arange(self.output[d]) * self.stride[d] // self.parts[d] - self.padding[2 * d], 0
            )
            for d in range(2)
        )
        return image_starts(self.batches, (h, w, c), top, left)

    @property
    def share_columns(self) -> bool:
        """Return True if adjacent windows share columns of several rows, or if one
        window is large.
        """
        (kh, kw), stride = self.kernel, self.stride[1]
        common = kh > 1 and (kw - 1) * self.dilation[1] >= stride
        return common if self.output[1] > 1 else min(kh, kw) > 3

    def row_values(self, count: int) -> int:
        """Return the values in the columns of `count` windows of a row, over their full reach."""
        reach = (self.kernel[1] - 1) * self.dilation[1] + 1
        return ((count - 1) * self.stride[1] + reach) * self.input_c

    def by_rows(self, least_width: int = 1) -> ByRows | None:
        """Return the row streaming of a kernel with these windows: one output row per call.

        If input and output are one row, a call computes one pixel. With several images, a call
        computes one image.

        Args:
          least_width: minimum pixels of an output row.
        """
        if self.parts != (1, 1):
            return None
        if self.batches != 1:
            return ByRows(self.batches, {"input": Taps(self.batches)}, {"batches": 1})
        d = 1 if self.input[0] == self.output[0] == 1 else 0
        width = 1 if d else self.output[1]
        image = self.output[1] > 1 and self.input[1] > 1
        if self.output[d] == 1 or width < least_width or (d == 0 and not image):
            return None
        if (self.output[d] - 1) * self.stride[d] - self.padding[2 * d] >= self.input[d]:
            return None  # the last window is in the padding as a whole
        reach = (self.kernel[d] - 1) * self.dilation[d] + 1
        taps = Taps(self.input[d], self.stride[d], self.padding[2 * d], reach)
        return ByRows(
            self.output[d],
            {"input": taps},
            {"output_w" if d else "output_h": 1},
            "pad_left" if d else "pad_top",
            "input_w" if d else "input_h",
        )

    def params(self, dilation: bool) -> dict[str, Field]:
        fields: dict[str, Field] = {
            "stride_h": self.stride[0],
            "stride_w": self.stride[1],
            "pad_top": self.padding[0],
            "pad_left": self.padding[2],
        }
        if dilation:
            fields |= {"dilation_h": self.dilation[0], "dilation_w": self.dilation[1]}
        return fields

    def dims(self) -> dict[str, Field]:
        return {
            "batches": self.batches,
            "input_h": self.input[0],
            "input_w": self.input[1],
            "input_c": self.input_c,
            "kernel_h": self.kernel[0],
            "kernel_w": self.kernel[1],
            "output_h": self.output[0],
            "output_w": self.output[1],
        }


def adaptive_starts(call: OpCall) -> AnyArray:
    """Return the first byte read by each window of adaptive pooling: [batches, *output]."""
    n, *image, c = call.tensor("input").shape
    _, *size, _ = call.output().shape
    rows, columns = (np.arange(o) * i // o for i, o in zip(image, size, strict=True))
    return image_starts(n, (image[0], image[1], c), rows, columns)


def adaptive_dims(call: OpCall, dtype: str) -> dict[str, Field]:
    """Return the dims of adaptive pooling of a dtype, from argument output_size."""
    size = call.integers("output_size", 2, minimum=1)
    n, h, w, c = call.tensor("input", dtype, rank=4).shape
    output = call.output(dtype, rank=4).shape
    call.require(
        output == (n, *size, c), f"output has shape {list(output)}, it should be {[n, *size, c]}"
    )
    return {
        "batches": n,
        "input_h": h,
        "input_w": w,
        "input_c": c,
        "output_h": size[0],
        "output_w": size[1],
    }


def image_starts(
    batches: int, image: tuple[int, int, int], rows: AnyArray, columns: AnyArray
) -> AnyArray:
    """Return the byte offsets from the start of int8 NHWC images to pixels of these rows and
    columns.
    """
    h, w, c = image
    return c * np.add.outer(np.arange(batches) * h * w, np.add.outer(rows * w, columns))


def pair(values: tuple[int, ...]) -> tuple[int, int]:
    first, second = values
    return first, second


def quad(values: tuple[int, ...]) -> tuple[int, int, int, int]:
    first, second, third, fourth = values
    return first, second, third, fourth


def _convolved(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    return (size + padding - dilation * (kernel - 1) - 1) // stride + 1
