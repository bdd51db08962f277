# SPDX-License-Identifier: Apache-2.0
"""Lowering of pooling to pl::max_pool2d, adaptive_max_pool2d and mean_pool2d.

An average with the scale of its input becomes avg_pool2d or adaptive_avg_pool2d. 1d pools arrive as
2d ones.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_mean
from aot.dialect.graph import NHWC, Edge, quantization_of
from aot.dialect.library import Op
from aot.dialect.results import taken_from
from aot.dialect.rule import Call, Family, Observed, Output, Shares, UnaryRule, argument, pair
from aot.rules.spatial import to_nchw, to_nhwc
from kernels.adaptive_avg_pool2d.op import adaptive_avg_pool2d
from kernels.adaptive_max_pool2d.op import adaptive_max_pool2d
from kernels.avg_pool2d.op import avg_pool2d
from kernels.max_pool2d.op import max_pool2d
from kernels.mean_pool2d.op import GUARD_BITS, Window, counts, mean_pool2d, windows

_MAX = torch.ops.aten.max_pool2d.default
_AVG = torch.ops.aten.avg_pool2d.default
_ADAPTIVE_AVG = torch.ops.aten.adaptive_avg_pool2d.default
_ADAPTIVE_MAX = torch.ops.aten.adaptive_max_pool2d.default


class Pooling(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        call, _ = taken_from(node)
        if call.target in (_MAX, _AVG):
            return max_pool2d if call.target is _MAX else avg_pool2d
        before = self.activations(node)[0].meta["val"].shape[2:]
        after = node.meta["val"].shape[2:]
        whole = not any(a % b for a, b in zip(before, after, strict=True))
        if call.target is _ADAPTIVE_MAX:
            return max_pool2d if whole else adaptive_max_pool2d
        return avg_pool2d if whole else adaptive_avg_pool2d

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(node.meta["val"].shape) != 4:
            return "pooling without a batch dimension has no int8 form", "unsqueeze(0) before it"
        return None

    def emit(self, call: Call) -> Node:
        node, _ = taken_from(call.node)
        x = to_nhwc(call, call.inputs[0])
        edge = Edge(call.output, NHWC)
        _, height, width, _ = x.meta["val"].shape
        out_h, out_w = (int(s) for s in call.node.meta["val"].shape[2:])
        op = Pooling.op(self, call.node)
        if op in (adaptive_max_pool2d, adaptive_avg_pool2d):
            return to_nchw(call, call.emit(op, x, [out_h, out_w], edge=edge))
        if node.target not in (_MAX, _AVG):
            kernel = [height // out_h, width // out_w]
            stride, padding = kernel, [0, 0, 0, 0]
        else:
            kernel = pair(argument(node, "kernel_size"))
            stride = pair(argument(node, "stride") or kernel)
            vertical, horizontal = pair(argument(node, "padding"))
            padding = [vertical, vertical, horizontal, horizontal]
        if op is max_pool2d:
            dilation = pair(argument(node, "dilation")) if node.target is _MAX else [1, 1]
            window = (kernel, stride, padding, dilation, [out_h, out_w])
            return to_nchw(call, call.emit(max_pool2d, x, *window, edge=edge))
        include_pad, override = True, 0
        if node.target is _AVG:
            include_pad = bool(argument(node, "count_include_pad"))
            override = int(argument(node, "divisor_override") or 0)
        zero_point = quantization_of(x).zero_point
        args = (kernel, stride, padding, [out_h, out_w], include_pad, override, zero_point)
        return to_nchw(call, call.emit(avg_pool2d, x, *args, edge=edge))


class AveragePooling(Pooling):
    """Rule for average pooling. Averages have a smaller range than their inputs.

    Pools over whole images are means (average_to_mean). For some engines mean_to_average turns
    means back into pools: those engines need one scale around pl::avg_pool2d.
    """

    output: ClassVar[Output] = Observed()

    def op(self, node: Node) -> Op:
        return avg_pool2d if _Layout(node).is_whole else mean_pool2d

    def reject(self, node: Node) -> tuple[str, str] | None:
        if problem := super().reject(node):
            return problem
        if _Layout(node).largest >= 2**16:
            return (
                "averages of more than 65535 elements, but not of whole axes, have no int8 form",
                "two pools, one after the other",
            )
        return None

    def emit(self, call: Call) -> Node:
        of = quantization_of(call.inputs[0])
        if of == call.output:
            return super().emit(call)
        x = to_nhwc(call, call.inputs[0])
        layout = _Layout(call.node)
        divisors = counts(*layout.windows())
        count = layout.divisor or (divisors.pop() if len(divisors) == 1 else 1)
        by_count = not layout.divisor and bool(divisors)
        factor = quantize_mean(of.scale / call.output.scale / 2 ** GUARD_BITS[of.type.dtype], count)
        args = (
            *(layout.kernel, layout.stride, layout.parts, layout.padding, layout.after),
            *(by_count, layout.include_pad, of.zero_point, call.output.zero_point, *factor),
        )
        return to_nchw(call, call.emit(mean_pool2d, x, *args, edge=Edge(call.output, NHWC)))


class _Layout:
    """Window layout of a node, as in pl::mean_pool2d. `divisor` is 0 if it is the windows' number
    of elements.
    """

    def __init__(self, node: Node) -> None:
        source = node.args[0]
        assert isinstance(source, Node)
        self.before = [int(s) for s in source.meta["val"].shape[2:]]
        self.after = [int(s) for s in node.meta["val"].shape[2:]]
        self.parts, self.padding = [1, 1], [0, 0, 0, 0]
        self.include_pad, self.divisor = True, 0
        if node.target is _AVG:
            self.kernel = pair(argument(node, "kernel_size"))
            self.stride = pair(argument(node, "stride") or self.kernel)
            vertical, horizontal = pair(argument(node, "padding"))
            self.padding = [vertical, vertical, horizontal, horizontal]
            self.include_pad = bool(argument(node, "count_include_pad"))
            self.divisor = int(argument(node, "divisor_override") or 0)
        else:
            self.kernel, self.stride, self.parts = self.before, self.before, self.after
            for d, axis in enumerate(self.windows()):
                self._take_whole_steps(d, axis)

    def _take_whole_steps(self, d: int, axis: list[Window]) -> None:
        """Use a plain pool if all adaptive windows have the same length and distance."""
        steps = {b.begin - a.begin for a, b in zip(axis, axis[1:], strict=False)} or {1}
        lengths = {window.end - window.begin for window in axis}
        if len(steps) == len(lengths) == 1 and 0 not in steps:
            self.kernel, self.stride, self.parts = (
                [*of[:d], value, *of[d + 1 :]]
                for of, value in (
                    (self.kernel, lengths.pop()),
                    (self.stride, steps.pop()),
                    (self.parts, 1),
                )
            )

    @property
    def is_whole(self) -> bool:
        """Return True if there is one window, of the whole image."""
        return (
            not self.divisor
            and self.parts == [1, 1]
            and list(self.kernel) == self.before
            and not any(self.padding)
        )

    @property
    def largest(self) -> int:
        """Upper limit for the elements of a window."""
        return math.prod(-(-k // p) + (p > 1) for k, p in zip(self.kernel, self.parts, strict=True))

    def windows(self) -> tuple[list[Window], list[Window]]:
        rows, columns = (
            windows(
                self.before[d],
                self.after[d],
                self.kernel[d],
                self.stride[d],
                self.parts[d],
                self.padding[2 * d],
                self.padding[2 * d + 1],
                self.include_pad,
            )
            for d in (0, 1)
        )
        return rows, columns


RULE = Pooling()
AVERAGE = AveragePooling()
FAMILY = Family(
    {_MAX: RULE, _AVG: AVERAGE, _ADAPTIVE_AVG: AVERAGE},
    kept=(_MAX, _ADAPTIVE_AVG),
    results={_ADAPTIVE_MAX: (RULE,)},
)
