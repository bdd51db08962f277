# SPDX-License-Identifier: Apache-2.0
"""A TOSA 1.0 graph as emitters write it, operator by operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tosa_serializer as ts

from aot.backends.ethos_u.block import (
    INT8,
    INT16,
    INT32,
    INT48,
    NUMPY,
    Array,
    TosaBlock,
    TosaValue,
    attribute,
    undoes,
)

_SUMS = {INT8: INT32, INT16: INT48}
"""Accumulator type of each value type."""

_RANK_OF_MATMUL = 3

_COPIED_WIDTHS = 32, 24  # widths of the fastest copied rows, by Vela's estimates
_LARGEST_DILATION = 2  # of one operation; Vela splits convolutions with more
_TURN = 0, 2, 1, 3
_LARGEST_SIZE = 65536

_ONE = 1 << 30, 30
_FRACTION = 1 << 30, 37
"""RESCALE of a 16-bit table's results: it removes the 7 bits between entries."""

_NAN = ts.NanPropagationMode.PROPAGATE


class TosaGraph(TosaBlock):
    """Values are int8, int16 or int32, and int48 between sums and RESCALE. Windows and layouts are
    TOSA's: NHWC, padding (top, bottom, left, right), and output sizes come out without a remainder.
    """

    def conv2d(
        self,
        x: TosaValue,
        weight: Any,
        bias: Any,
        zero_point: int,
        stride: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
    ) -> TosaValue:
        """Return the sums: int32 for int8 inputs, int48 for int16. weight is int8 [O, KH, KW, C],
        bias [O] has the sums' dtype.
        """
        weights = self.constant(weight, INT8)
        out, kernel = weights.shape[0], weights.shape[1:3]
        size = _window_sizes(x, kernel, stride, padding, dilation)
        return self._convolution(
            "Conv2d", x, weights, bias, zero_point, (stride, padding, dilation), (*size, out)
        )

    def depthwise_conv2d(
        self,
        x: TosaValue,
        weight: Any,
        bias: Any,
        zero_point: int,
        stride: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
    ) -> TosaValue:
        """Return sums as conv2d does; weight int8 [KH, KW, C, 1], bias [C] in the sums' dtype."""
        weights = self.constant(weight, INT8)
        size = _window_sizes(x, weights.shape[:2], stride, padding, dilation)
        window = (stride, padding, dilation)
        return self._convolution(
            "DepthwiseConv2d", x, weights, bias, zero_point, window, (*size, x.shape[3])
        )

    def biases_of_sums(self, weight: Array, scale: tuple[int, int], wanted: Array) -> Array:
        """Return the biases of a convolution with these weights and this scale.

        They are the biases of the first such convolution in the graph. Vela 5.1.0 gives the same
        biases to all of them.
        """
        key = tuple(np.asarray(v, np.int64).tobytes() for v in (weight.shape, weight, scale))
        return self._biases.setdefault(key, wanted)

    def rescale(
        self,
        x: TosaValue,
        multiplier: Any,
        shift: Any,
        dtype: int,
        *,
        input_zero_point: int = 0,
        output_zero_point: int = 0,
        double_round: bool = False,
    ) -> TosaValue:
        """Return ((x - input_zero_point) * multiplier, rounded) >> shift, + output_zero_point,
        saturated.

        multiplier is int32, or int16 if x has 48 bits. shift is in [2, 62]. Both are numbers, or
        arrays [C] by last dimension.
        """
        is_wide = x.dtype == INT48
        multipliers, shifts = np.atleast_1d(multiplier), np.atleast_1d(shift)
        rounding = ts.RoundingMode.DOUBLE_ROUND if double_round else ts.RoundingMode.SINGLE_ROUND
        attributes = attribute(
            "Rescale",
            scale32=not is_wide,
            rounding_mode=rounding,
            per_channel=len(multipliers) > 1,
            input_unsigned=False,
            output_unsigned=False,
        )
        inputs = [
            x,
            self.constant(multipliers, INT16 if is_wide else INT32),
            self.constant(shifts, INT8),
            self.constant([input_zero_point], x.dtype),
            self.constant([output_zero_point], dtype),
        ]
        return self._same(x, self._operator(ts.Op.RESCALE, inputs, x.shape, dtype, attributes))

    def clamp(self, x: TosaValue, minimum: int, maximum: int) -> TosaValue:
        x = self._original(x)
        limits = [list(np.array([v], NUMPY[x.dtype]).tobytes()) for v in (minimum, maximum)]
        attributes = attribute("Clamp", *limits, _NAN)
        return self._same(x, self._operator(ts.Op.CLAMP, [x], x.shape, x.dtype, attributes))

    def limited(self, sums: TosaValue, y: TosaValue) -> TosaValue:
        """Return y, int8 results of sums; with `limits`, those of a convolution get a CLAMP.

        It changes no value. Vela 5.1.0 bills a convolution without an activation on U55 and U65 at
        a cycle a result, as if it had a table, and may choose other blocks because of that.
        """
        if self.limits and sums.name in self._convolved and y.dtype == INT8:
            return self.clamp(y, -128, 127)
        return y

    def add(self, a: TosaValue, b: TosaValue) -> TosaValue:
        return self._elementwise(ts.Op.ADD, [a, b], a.dtype, attribute("Add"))

    def sub(self, a: TosaValue, b: TosaValue) -> TosaValue:
        return self._elementwise(ts.Op.SUB, [a, b], a.dtype, attribute("Sub"))

    def mul(self, a: TosaValue, b: TosaValue) -> TosaValue:
        """Return the product of int32 values."""
        inputs = [a, b, self.constant([0], INT8)]
        return self._elementwise(ts.Op.MUL, inputs, INT32, attribute("Mul"))

    def maximum(self, a: TosaValue, b: TosaValue) -> TosaValue:
        return self._elementwise(ts.Op.MAXIMUM, [a, b], a.dtype, attribute("Maximum", _NAN))

    def minimum(self, a: TosaValue, b: TosaValue) -> TosaValue:
        return self._elementwise(ts.Op.MINIMUM, [a, b], a.dtype, attribute("Minimum", _NAN))

    def table(self, x: TosaValue, table: Any) -> TosaValue:
        """Return the table values of x.

        An int8 table [256] is for int8 values, the first entry for -128. An int16 table [513] is
        for int16 values. It interpolates between entries with 7 bits; the result is int32 with
        these 7 bits more.
        """
        x = self._original(x)
        inputs = [x, self.constant(table, x.dtype)]
        dtype = {INT8: INT8, INT16: INT32}[x.dtype]
        return self._operator(ts.Op.TABLE, inputs, x.shape, dtype, attribute("Table"))

    def entries(self, x: TosaValue, table: Any) -> TosaValue:
        """Return int16 table values, rounded to the entries' own steps: int32 of 16 bits."""
        looked_up = self.table(x, table)
        if self.npu.is_u85:
            return self.rescale(self.for_rescale(looked_up), *_FRACTION, INT32)
        # Through int16, as the table then is one operation.
        return self.rescale(self.rescale(looked_up, *_FRACTION, INT16), *_ONE, INT32)

    def for_rescale(self, x: TosaValue) -> TosaValue:
        """Return int32 values in the best form for a RESCALE that is an operation of its own.

        This is a sum with 0 on U85: the RESCALE after it takes a fraction of the cycles. Vela 5.1.0
        merges it with a RESCALE of 48-bit sums before it, and loses bits of the multiplier, else.
        """
        return (
            self.add(x, self.constant(np.zeros((1,) * len(x.shape)), INT32))
            if self.npu.is_u85
            else x
        )

    def clz(self, x: TosaValue) -> TosaValue:
        """Return the leading zeros of int32 values."""
        return self._operator(ts.Op.CLZ, [x], x.shape, INT32, attribute("Clz"))

    def shift_left(self, a: TosaValue, b: TosaValue) -> TosaValue:
        attributes = attribute("LogicalLeftShift")
        return self._elementwise(ts.Op.LOGICAL_LEFT_SHIFT, [a, b], INT32, attributes)

    def shift_right(self, a: TosaValue, b: TosaValue) -> TosaValue:
        """Shift right, rounded to nearest, ties up."""
        attributes = attribute("ArithmeticRightShift", True)
        return self._elementwise(ts.Op.ARITHMETIC_RIGHT_SHIFT, [a, b], INT32, attributes)

    def matmul(self, a: TosaValue, b: TosaValue, a_zero_point: int, b_zero_point: int) -> TosaValue:
        """Return the products of [B, M, K] and [B, K, N], with sums as in conv2d."""
        zero_points = [self.constant([z], a.dtype) for z in (a_zero_point, b_zero_point)]
        shape = (*a.shape[:2], b.shape[2])
        inputs = [a, b, *zero_points]
        y = self._operator(ts.Op.MATMUL, inputs, shape, _SUMS[a.dtype], attribute("MatMul"))
        self._products.add(y.name)
        return y

    def transpose_conv2d(
        self,
        x: TosaValue,
        weight: Any,
        bias: Any,
        zero_point: int,
        padding: Sequence[int],
        stride: Sequence[int],
        size: Sequence[int],
    ) -> TosaValue:
        """Return sums as conv2d does. weight is int8 [O, KH, KW, C], bias [O] has the sums' dtype.
        padding is of the result; negative padding cuts it.
        """
        sums = _SUMS[x.dtype]
        attributes = attribute(
            "TransposeConv2d",
            out_pad=list(padding),
            stride=list(stride),
            local_bound=False,
            acc_type=sums,
        )
        weights = self.constant(weight, INT8)
        inputs = [
            x,
            weights,
            self.constant(bias, sums),
            self.constant([zero_point], x.dtype),
            self.constant([0], INT8),
        ]
        shape = (x.shape[0], *size, weights.shape[0])
        y = self._operator(ts.Op.TRANSPOSE_CONV2D, inputs, shape, sums, attributes)
        self._convolved.add(y.name)
        return y

    def reduce_max(self, x: TosaValue, axis: int) -> TosaValue:
        shape = tuple(1 if d == axis else s for d, s in enumerate(x.shape))
        attributes = attribute("ReduceMax", axis, _NAN)
        return self._operator(ts.Op.REDUCE_MAX, [x], shape, x.dtype, attributes)

    def max_pool2d(
        self, x: TosaValue, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> TosaValue:
        attributes = attribute("MaxPool2d", list(kernel), list(stride), list(padding), _NAN)
        shape = (*_window_sizes(x, kernel, stride, padding, (1, 1)), x.shape[3])
        return self._operator(ts.Op.MAX_POOL2D, [x], shape, x.dtype, attributes)

    def avg_pool2d(
        self, x: TosaValue, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> TosaValue:
        """Return the means of unchanged values over the taps inside x."""
        attributes = attribute("AvgPool2d", list(kernel), list(stride), list(padding), INT32)
        inputs = [x, self.constant([0], x.dtype), self.constant([0], x.dtype)]
        shape = (*_window_sizes(x, kernel, stride, padding, (1, 1)), x.shape[3])
        return self._operator(ts.Op.AVG_POOL2D, inputs, shape, x.dtype, attributes)

    def reduce_sum(self, x: TosaValue, axis: int) -> TosaValue:
        shape = tuple(1 if d == axis else s for d, s in enumerate(x.shape))
        attributes = attribute("ReduceSum", axis)
        return self._operator(ts.Op.REDUCE_SUM, [x], shape, x.dtype, attributes)

    def transpose(self, x: TosaValue, perm: Sequence[int]) -> TosaValue:
        """Return a transpose of x; a transpose of a transpose becomes one TRANSPOSE.

        If the two undo each other, there is none. Vela 5.1.0 also removes such a pair, but leaves
        wrong shapes between.
        """
        turned = self.before_reshape(x)
        if turned.name in self._turned:
            source, first = self._turned[turned.name]
            if turned.shape == x.shape:
                return self.transpose(source, [first[d] for d in perm])
            if undoes(turned.shape, first, x.shape, perm):
                return self.reshape(source, [x.shape[d] for d in perm])
        if list(perm) == sorted(perm):
            return x
        y = self._transposed(x, perm)
        self._turned[y.name] = x, perm
        return y

    def _transposed(self, x: TosaValue, perm: Sequence[int]) -> TosaValue:
        shape = [x.shape[d] for d in perm]
        attributes = attribute("Transpose", list(perm))
        return self._operator(ts.Op.TRANSPOSE, [x], shape, x.dtype, attributes)

    def slice(self, x: TosaValue, start: Sequence[int], size: Sequence[int]) -> TosaValue:
        """Return a slice of x, or x itself if the slice covers all of it."""
        if x.shape == tuple(size):
            return x
        inputs = [x, self._shape(start), self._shape(size)]
        y = self._operator(ts.Op.SLICE, inputs, size, x.dtype, attribute("Slice"))
        self._slices.add(y.name)
        return y

    def near(self, x: TosaValue) -> TosaValue:
        """Return a fast copy of x: two transposes that undo each other.

        Vela makes one operation of both; it takes a fraction of the cycles of other copies. If x
        has no suitable rows, return x itself. The rows are not x's own: with a third transpose
        after them, Vela 5.1.0 fuses all three, and some of these fusions are wrong.
        """
        count = math.prod(x.shape)
        for width in _COPIED_WIDTHS:
            rows, rest = divmod(count, 2 * width)
            if not rest and 1 < rows <= _LARGEST_SIZE:
                turned = self._transposed(self.reshape(x, (1, 2, rows, width)), _TURN)
                copy = self._transposed(turned, _TURN)
                self._copies[copy.name] = x
                return self.reshape(copy, x.shape)
        return x

    def _original(self, x: TosaValue) -> TosaValue:
        """Return the source of a copy, possibly reshaped or transposed; x if it is none.

        For ops that Vela 5.1.0 would fuse with the copy into a wrong operation.
        """
        base = self.before_reshape(x)
        if base.name in self._turned:
            source, perm = self._turned[base.name]
            original = self._original(source)
            turned = x if original is source else self._transposed(original, perm)
            return self.reshape(turned, x.shape)
        copied = self._copies.get(base.name)
        return x if copied is None else self.reshape(copied, x.shape)

    def materialized(self, x: TosaValue) -> TosaValue:
        """Return x, copied if it is a slice: Vela 5.1.0 loses a slice before some operators.

        Vela drops a RESCALE by 1, but not a TABLE or a product.
        """
        return self._copied(x) if self.before_reshape(x).name in self._slices else x

    def placed(self, x: TosaValue) -> TosaValue:
        """Return x, copied if it is a product in other dimensions than MATMUL's three.

        Vela 5.1.0 loses the place of such a product in the result of CONCAT or PAD.
        """
        is_product = self.before_reshape(x).name in self._products
        return self._copied(x) if is_product and len(x.shape) != _RANK_OF_MATMUL else x

    def _same(self, x: TosaValue, y: TosaValue) -> TosaValue:
        """Return y; it is one NPU operation with x."""
        if x.name in self._products:
            self._products.add(y.name)
        return y

    def _copied(self, x: TosaValue) -> TosaValue:
        if x.dtype == INT8:
            return self.table(x, range(-128, 128))
        wide = self.rescale(x, *_ONE, INT32)
        product = self.mul(wide, self.constant(np.ones((1,) * len(x.shape)), INT32))
        return self.rescale(product, *_ONE, x.dtype)

    def resize(
        self,
        x: TosaValue,
        mode: int,
        scale: Sequence[int],
        offset: Sequence[int],
        border: Sequence[int],
        dtype: int,
    ) -> TosaValue:
        """Return x resized, for U85. Nearest values keep their type, bilinear ones are sums."""
        sizes = [
            ((x.shape[1 + d] - 1) * scale[2 * d] - offset[d] + border[d]) // scale[2 * d + 1] + 1
            for d in (0, 1)
        ]
        inputs = [x, *map(self._shape, (scale, offset, border))]
        shape = (x.shape[0], *sizes, x.shape[3])
        return self._operator(ts.Op.RESIZE, inputs, shape, dtype, attribute("Resize", mode))

    def pad(self, x: TosaValue, padding: Sequence[int], value: int) -> TosaValue:
        """Return x padded; padding has the values before and after each dimension."""
        shape = [s + padding[2 * d] + padding[2 * d + 1] for d, s in enumerate(x.shape)]
        inputs = [x, self._shape(padding), self.constant([value], x.dtype)]
        return self._operator(ts.Op.PAD, inputs, shape, x.dtype, attribute("Pad"))

    def concat(self, values: Sequence[TosaValue], axis: int) -> TosaValue:
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        attributes = attribute("Concat", axis)
        return self._operator(ts.Op.CONCAT, values, shape, values[0].dtype, attributes)

    def _convolution(
        self,
        kind: str,
        x: TosaValue,
        weights: TosaValue,
        bias: Any,
        zero_point: int,
        window: tuple[Sequence[int], Sequence[int], Sequence[int]],
        shape: Sequence[int],
    ) -> TosaValue:
        stride, padding, dilation = map(list, window)
        sums = _SUMS[x.dtype]
        attributes = attribute(
            kind, pad=padding, stride=stride, dilation=dilation, local_bound=False, acc_type=sums
        )
        inputs = [
            x,
            weights,
            self.constant(bias, sums),
            self.constant([zero_point], x.dtype),
            self.constant([0], INT8),
        ]
        op = {"Conv2d": ts.Op.CONV2D, "DepthwiseConv2d": ts.Op.DEPTHWISE_CONV2D}[kind]
        y = self._operator(op, inputs, shape, sums, attributes)
        if max(dilation) <= _LARGEST_DILATION:
            self._convolved.add(y.name)
        return y

    def _elementwise(
        self, op: int, inputs: Sequence[TosaValue], dtype: int, attributes: Any
    ) -> TosaValue:
        shape = np.broadcast_shapes(inputs[0].shape, inputs[1].shape)
        return self._operator(op, inputs, shape, dtype, attributes)


def _window_sizes(
    x: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[int, int, int]:
    """Return batch, height and width of the result of windows over x."""
    sizes = []
    for d in (0, 1):
        pads = padding[2 * d] + padding[2 * d + 1]
        steps, rest = divmod(x.shape[1 + d] + pads - dilation[d] * (kernel[d] - 1) - 1, stride[d])
        assert rest == 0, "TOSA's windows end at the edge: emitters fit them"
        sizes.append(steps + 1)
    return x.shape[0], sizes[0], sizes[1]
