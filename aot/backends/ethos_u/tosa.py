# SPDX-License-Identifier: Apache-2.0
"""A TOSA 1.0 graph as emitters write it, and its flatbuffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import tosa_serializer as ts

Array = npt.NDArray[Any]
INT8, INT16 = int(ts.DType.INT8), int(ts.DType.INT16)
INT32, INT48 = int(ts.DType.INT32), int(ts.DType.INT48)

_NUMPY: dict[int, type[np.integer[Any]]] = {
    INT8: np.int8,
    INT16: np.int16,
    INT32: np.int32,
    INT48: np.int64,
}
_SUMS = {INT8: INT32, INT16: INT48}
"""What values of a type are added up in."""

_NAN = ts.NanPropagationMode.PROPAGATE


@dataclass(frozen=True)
class Value:
    """A tensor of a graph; dtype is TOSA's number of it."""

    name: str
    shape: tuple[int, ...]
    dtype: int


def _attribute(kind: str, *args: Any, **kwargs: Any) -> Any:
    attribute = ts.TosaSerializerAttribute()
    getattr(attribute, kind + "Attribute")(*args, **kwargs)
    return attribute


class TosaGraph:
    """Adds operators one by one; the same calls give the same bytes.

    Values are int8, int16 or int32, and int48 between sums and RESCALE. Windows and layouts are
    TOSA's: NHWC, padding (top, bottom, left, right), and output sizes come out without a remainder.
    """

    def __init__(self, keeps_inputs_far: bool = False) -> None:
        """keeps_inputs_far: whether inputs lie in memory that is slow to read.

        Attributes:
          writer: whose values are added, for `writers`.
          writers: by the name of a value who added it.
        """
        self._keeps_inputs_far = keeps_inputs_far
        self._serializer = ts.TosaSerializer(
            "", targetMajor=1, targetMinor=0, targetPatch=0, targetDraft=False
        )
        self._block = self._serializer.currRegion.currBasicBlock
        self._count = 0
        self.writer = ""
        self.writers: dict[str, str] = {}
        self._shared: set[str] = set()  # names of values that several ops read
        self._border: set[str] = set()  # names of inputs and outputs
        self._slices: set[str] = set()  # and of what SLICE gave
        self._views: dict[str, Value] = {}  # what a RESHAPE is of, by its name
        self._written: set[str] = set()  # names of those that something reads

    def reads_slowly(self, x: Value) -> bool:
        """Whether reading x twice takes longer than a copy of it."""
        return self._keeps_inputs_far and self.before_reshape(x).name in self._border

    def share(self, x: Value) -> None:
        """Says that several ops read a value."""
        self._shared.add(x.name)

    def is_shared(self, x: Value) -> bool:
        return x.name in self._shared

    def serialize(self) -> bytes:
        return bytes(self._serializer.serialize())

    def input(self, shape: Sequence[int]) -> Value:
        """An int8 input of the graph."""
        value = Value(self._name(), tuple(shape), INT8)
        tensor = ts.TosaSerializerTensor(value.name, list(shape), INT8, data=None)
        self._serializer.addInputTensor(tensor)
        self._border.add(value.name)
        return value

    def output(self, value: Value) -> None:
        if value.name in self._border:  # Vela takes no tensor for two of them
            value = self._view(value, value.shape)
        self._write(value)
        self._block.addOutput(value.name)
        self._border.add(value.name)

    def constant(self, data: Any, dtype: int) -> Value:
        array = np.asarray(data, _NUMPY[dtype])
        name = self._name()
        self._serializer.addConst(list(array.shape), dtype, array, name=name)
        return Value(name, array.shape, dtype)

    def operand(self, value: Value | torch.Tensor) -> Value:
        """A value, or a constant of the dialect as one."""
        return value if isinstance(value, Value) else self.constant(value.numpy(), INT8)

    def conv2d(
        self,
        x: Value,
        weight: Any,
        bias: Any,
        zero_point: int,
        stride: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
    ) -> Value:
        """Sums, int32 of int8, int48 of int16; weight int8 [O, KH, KW, C], bias as the sums [O]."""
        weights = self.constant(weight, INT8)
        out, kernel = weights.shape[0], weights.shape[1:3]
        size = _window_sizes(x, kernel, stride, padding, dilation)
        return self._convolution(
            "Conv2d", x, weights, bias, zero_point, (stride, padding, dilation), (*size, out)
        )

    def depthwise_conv2d(
        self,
        x: Value,
        weight: Any,
        bias: Any,
        zero_point: int,
        stride: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
    ) -> Value:
        """Sums as of conv2d; weight int8 [KH, KW, C, 1], bias as the sums [C]."""
        weights = self.constant(weight, INT8)
        size = _window_sizes(x, weights.shape[:2], stride, padding, dilation)
        window = (stride, padding, dilation)
        return self._convolution(
            "DepthwiseConv2d", x, weights, bias, zero_point, window, (*size, x.shape[3])
        )

    def rescale(
        self,
        x: Value,
        multiplier: Any,
        shift: Any,
        dtype: int,
        *,
        input_zero_point: int = 0,
        output_zero_point: int = 0,
        double_round: bool = False,
    ) -> Value:
        """((x - input_zero_point) * multiplier, rounded) >> shift, + output_zero_point, saturated.

        multiplier int32, int16 for x of 48 bits, and shift in [2, 62], numbers or arrays [C] by
        last dimension.
        """
        is_wide = x.dtype == INT48
        multipliers, shifts = np.atleast_1d(multiplier), np.atleast_1d(shift)
        rounding = ts.RoundingMode.DOUBLE_ROUND if double_round else ts.RoundingMode.SINGLE_ROUND
        attribute = _attribute(
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
        return self._operator(ts.Op.RESCALE, inputs, x.shape, dtype, attribute)

    def clamp(self, x: Value, minimum: int, maximum: int) -> Value:
        limits = [list(np.array([v], _NUMPY[x.dtype]).tobytes()) for v in (minimum, maximum)]
        attribute = _attribute("Clamp", *limits, _NAN)
        return self._operator(ts.Op.CLAMP, [x], x.shape, x.dtype, attribute)

    def add(self, a: Value, b: Value) -> Value:
        return self._elementwise(ts.Op.ADD, [a, b], a.dtype, _attribute("Add"))

    def sub(self, a: Value, b: Value) -> Value:
        return self._elementwise(ts.Op.SUB, [a, b], a.dtype, _attribute("Sub"))

    def mul(self, a: Value, b: Value) -> Value:
        """Of int32 values."""
        inputs = [a, b, self.constant([0], INT8)]
        return self._elementwise(ts.Op.MUL, inputs, INT32, _attribute("Mul"))

    def maximum(self, a: Value, b: Value) -> Value:
        return self._elementwise(ts.Op.MAXIMUM, [a, b], a.dtype, _attribute("Maximum", _NAN))

    def minimum(self, a: Value, b: Value) -> Value:
        return self._elementwise(ts.Op.MINIMUM, [a, b], a.dtype, _attribute("Minimum", _NAN))

    def table(self, x: Value, table: Any) -> Value:
        """int8 table [256] of int8 values, the first for -128; or int16 table [513] of int16 ones,
        read between its entries with 7 bits, which gives int32 with these 7 bits more.
        """
        inputs = [x, self.constant(table, x.dtype)]
        dtype = {INT8: INT8, INT16: INT32}[x.dtype]
        return self._operator(ts.Op.TABLE, inputs, x.shape, dtype, _attribute("Table"))

    def clz(self, x: Value) -> Value:
        """Leading zeros of int32 values."""
        return self._operator(ts.Op.CLZ, [x], x.shape, INT32, _attribute("Clz"))

    def shift_left(self, a: Value, b: Value) -> Value:
        attribute = _attribute("LogicalLeftShift")
        return self._elementwise(ts.Op.LOGICAL_LEFT_SHIFT, [a, b], INT32, attribute)

    def shift_right(self, a: Value, b: Value) -> Value:
        """Rounded to nearest, ties up."""
        attribute = _attribute("ArithmeticRightShift", True)
        return self._elementwise(ts.Op.ARITHMETIC_RIGHT_SHIFT, [a, b], INT32, attribute)

    def matmul(self, a: Value, b: Value, a_zero_point: int, b_zero_point: int) -> Value:
        """int32 sums of int8 [B, M, K] and [B, K, N]."""
        zero_points = [self.constant([z], INT8) for z in (a_zero_point, b_zero_point)]
        shape = (*a.shape[:2], b.shape[2])
        inputs = [a, b, *zero_points]
        return self._operator(ts.Op.MATMUL, inputs, shape, INT32, _attribute("MatMul"))

    def transpose_conv2d(
        self,
        x: Value,
        weight: Any,
        bias: Any,
        zero_point: int,
        padding: Sequence[int],
        stride: Sequence[int],
        size: Sequence[int],
    ) -> Value:
        """int32 sums; weight int8 [O, KH, KW, C], bias int32 [O]; padding of the result, negative
        to cut it."""
        attribute = _attribute(
            "TransposeConv2d",
            out_pad=list(padding),
            stride=list(stride),
            local_bound=False,
            acc_type=INT32,
        )
        weights = self.constant(weight, INT8)
        inputs = [
            x,
            weights,
            self.constant(bias, INT32),
            self.constant([zero_point], INT8),
            self.constant([0], INT8),
        ]
        shape = (x.shape[0], *size, weights.shape[0])
        return self._operator(ts.Op.TRANSPOSE_CONV2D, inputs, shape, INT32, attribute)

    def reduce_max(self, x: Value, axis: int) -> Value:
        shape = tuple(1 if d == axis else s for d, s in enumerate(x.shape))
        attribute = _attribute("ReduceMax", axis, _NAN)
        return self._operator(ts.Op.REDUCE_MAX, [x], shape, x.dtype, attribute)

    def max_pool2d(
        self, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> Value:
        attribute = _attribute("MaxPool2d", list(kernel), list(stride), list(padding), _NAN)
        shape = (*_window_sizes(x, kernel, stride, padding, (1, 1)), x.shape[3])
        return self._operator(ts.Op.MAX_POOL2D, [x], shape, INT8, attribute)

    def avg_pool2d(
        self, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> Value:
        """Means of the taps inside of x, of its int8 values as they are."""
        attribute = _attribute("AvgPool2d", list(kernel), list(stride), list(padding), INT32)
        inputs = [x, self.constant([0], INT8), self.constant([0], INT8)]
        shape = (*_window_sizes(x, kernel, stride, padding, (1, 1)), x.shape[3])
        return self._operator(ts.Op.AVG_POOL2D, inputs, shape, INT8, attribute)

    def reduce_sum(self, x: Value, axis: int) -> Value:
        shape = tuple(1 if d == axis else s for d, s in enumerate(x.shape))
        attribute = _attribute("ReduceSum", axis)
        return self._operator(ts.Op.REDUCE_SUM, [x], shape, x.dtype, attribute)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """x, or what it was reshaped from, where that has the shape; else a RESHAPE, which is there
        if something reads it.
        """
        if x.shape == tuple(shape):
            return x
        base = self.before_reshape(x)
        return base if base.shape == tuple(shape) else self._view(base, shape)

    def before_reshape(self, x: Value) -> Value:
        """What x was reshaped from, else x."""
        return self._views.get(x.name, x)

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        shape = [x.shape[d] for d in perm]
        attribute = _attribute("Transpose", list(perm))
        return self._operator(ts.Op.TRANSPOSE, [x], shape, x.dtype, attribute)

    def slice(self, x: Value, start: Sequence[int], size: Sequence[int]) -> Value:
        """x itself where that is all of it."""
        if x.shape == tuple(size):
            return x
        inputs = [x, self._shape(start), self._shape(size)]
        y = self._operator(ts.Op.SLICE, inputs, size, x.dtype, _attribute("Slice"))
        self._slices.add(y.name)
        return y

    def materialized(self, x: Value) -> Value:
        """x, copied where it is a slice, which Vela 5.1.0 loses in front of some operators. (It
        takes a RESCALE by 1 for nothing, but not a TABLE.)
        """
        is_slice = self.before_reshape(x).name in self._slices
        return self.table(x, range(-128, 128)) if is_slice else x

    def pad(self, x: Value, padding: Sequence[int], value: int) -> Value:
        """padding: before and after of each dimension."""
        shape = [s + padding[2 * d] + padding[2 * d + 1] for d, s in enumerate(x.shape)]
        inputs = [x, self._shape(padding), self.constant([value], x.dtype)]
        return self._operator(ts.Op.PAD, inputs, shape, x.dtype, _attribute("Pad"))

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        attribute = _attribute("Concat", axis)
        return self._operator(ts.Op.CONCAT, values, shape, values[0].dtype, attribute)

    def _convolution(
        self,
        kind: str,
        x: Value,
        weights: Value,
        bias: Any,
        zero_point: int,
        window: tuple[Sequence[int], Sequence[int], Sequence[int]],
        shape: Sequence[int],
    ) -> Value:
        stride, padding, dilation = map(list, window)
        sums = _SUMS[x.dtype]
        attribute = _attribute(
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
        return self._operator(op, inputs, shape, sums, attribute)

    def _elementwise(self, op: int, inputs: Sequence[Value], dtype: int, attribute: Any) -> Value:
        shape = np.broadcast_shapes(inputs[0].shape, inputs[1].shape)
        return self._operator(op, inputs, shape, dtype, attribute)

    def _view(self, x: Value, shape: Sequence[int]) -> Value:
        y = Value(self._name(), tuple(shape), x.dtype)
        self._views[y.name] = x
        return y

    def _write(self, view: Value) -> None:
        """Adds the RESHAPE, if a value is one and it is not there yet."""
        if view.name in self._views and view.name not in self._written:
            self._written.add(view.name)
            inputs = [self._views[view.name], self._shape(view.shape)]
            self._add(ts.Op.RESHAPE, inputs, view, _attribute("Reshape"))

    def _shape(self, values: Sequence[int]) -> Value:
        name = self._name()
        dtype = int(ts.DType.SHAPE)
        self._serializer.addConst([len(values)], dtype, [int(v) for v in values], name=name)
        return Value(name, (len(values),), dtype)

    def _operator(
        self, op: int, inputs: Sequence[Value], shape: Sequence[int], dtype: int, attribute: Any
    ) -> Value:
        value = Value(self._name(), tuple(int(s) for s in shape), dtype)
        self._add(op, inputs, value, attribute)
        return value

    def _add(self, op: int, inputs: Sequence[Value], result: Value, attribute: Any) -> None:
        for value in inputs:
            self._write(value)
        self._block.addTensor(result.name, list(result.shape), result.dtype)
        names = [v.name for v in inputs]
        outputs = [result.name]
        self._serializer.addOperator(op, inputs=names, outputs=outputs, attributes=attribute)

    def _name(self) -> str:
        self._count += 1
        name = f"v{self._count}"
        self.writers[name] = self.writer
        return name


def _window_sizes(
    x: Value,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[int, int, int]:
    """Batch, height and width of what windows over x give."""
    sizes = []
    for d in (0, 1):
        pads = padding[2 * d] + padding[2 * d + 1]
        steps, rest = divmod(x.shape[1 + d] + pads - dilation[d] * (kernel[d] - 1) - 1, stride[d])
        assert rest == 0, "TOSA's windows end at the edge: emitters fit them"
        sizes.append(steps + 1)
    return x.shape[0], sizes[0], sizes[1]
