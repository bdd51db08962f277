# SPDX-License-Identifier: Apache-2.0
"""What memory a kernel's call touches, for the kernels that packages may use.

A package is data that somebody else made, and kernels believe their params and dims. So firmware
with a slot computes from them, before a model runs, how much of each operand a call reads and
writes, and whether that is inside. This says it for each kernel once, in expressions that become
code for it (bounds_code.py) and that a test compares with the operands of every case of the
kernels.

In an expression the names are those of dims and params; `a // b` and `a % b` have a `b` of at least
1. All is computed, also what a condition does not choose, in 32 bits; what overflows is more than
any memory has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_MAX = 65535
_LONG = 2**24 - 1


@dataclass(frozen=True)
class Extent:
    """Elements of `size` bytes that a call touches from an operand's first one on."""

    elements: str
    size: int = 1


@dataclass(frozen=True)
class Bounds:
    """A kernel.

    Attributes:
      header: as KernelCall has it.
      dims: the range of each field of dims that an expression names, in the order of the struct;
        of all elements of an array.
      params: likewise.
      reads, writes: operands.
      factors: channels of `multiplier` and `shift`, "" if there are none.
      scratch: bytes.
      needs: what else has to hold.
      has_params: whether there is such a struct.
      revision: raised when constants are packed otherwise, which the header's structs do not show.
    """

    header: str
    dims: Mapping[str, tuple[int, int]]
    reads: Mapping[str, Extent]
    writes: Mapping[str, Extent]
    params: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    factors: str = ""
    scratch: str = "0"
    needs: tuple[str, ...] = ()
    has_params: bool = True
    revision: int = 1


def _sizes(names: str, maximum: int = _MAX, minimum: int = 1) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(names.split(), (minimum, maximum))


_STRIDES = _sizes("stride_h stride_w", 255)
_WINDOW = {**_STRIDES, **_sizes("pad_top pad_left", 255, 0)}
_DILATED = {**_WINDOW, **_sizes("dilation_h dilation_w", 255)}
_IMAGE = _sizes("batches input_h input_w input_c kernel_h kernel_w output_h output_w")
_INPUT = "batches * input_h * input_w * input_c"
_POOLED = "batches * output_h * output_w * input_c"
_LAST_Y = "(output_h - 1) * stride_h"
_LAST_X = "(output_w - 1) * stride_w"

# No window reaches into padding.
_UNPADDED = (
    f"pad_top == 0 and pad_left == 0 and {_LAST_Y} + (kernel_h - 1) * dilation_h < input_h"
    f" and {_LAST_X} + (kernel_w - 1) * dilation_w < input_w"
)
# Each window has a tap inside.
_TAPS = (
    "pad_top < kernel_h",
    "pad_left < kernel_w",
    f"{_LAST_Y} - pad_top < input_h",
    f"{_LAST_X} - pad_left < input_w",
)

_CONV = {
    **_IMAGE,
    **_sizes("output_c groups packed_c"),
    "gathered": (0, _MAX),
}
_CONV_OUTPUT = {"output": Extent("batches * output_h * output_w * output_c")}
_GROUPED = (
    "input_c % groups == 0",
    "output_c % groups == 0",
    "packed_c >= output_c // groups",
)
_DEPTH = "(kernel_h * kernel_w * (input_c // groups))"
# Windows that are one run of the input.
_RUNS = (
    "((batches - 1) * input_h * input_w + (output_h - 1) * stride_h * input_w + "
    "(output_w - 1) * stride_w + kernel_h * kernel_w) * input_c"
)
_DENSE = "(kernel_w == 1 or dilation_w == 1 and groups == 1)"
_PAIRS_STEPS = f"(up({_DEPTH}, 4) // 2)"
_PAIRS_CONV = Bounds(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(_INPUT),
        "weight": Extent(f"groups * (packed_c // 2) * {_PAIRS_STEPS}", 4),
        "bias": Extent("groups * packed_c * 3", 4),
    },
    _CONV_OUTPUT,
    _DILATED,
    scratch=f"16 * {_PAIRS_STEPS} + gathered * {_DEPTH}",
    needs=(
        *_GROUPED,
        "packed_c % 2 == 0",
        f"gathered >= 1 or {_UNPADDED} and {_DENSE}",
    ),
)

_DEPTHWISE = {**_IMAGE, "scratch_bytes": (0, _LONG)}
_DEPTHWISE_OUTPUT = {"output": Extent(_POOLED)}

_LINEAR = {"rows": (1, _LONG), **_sizes("input_channels output_channels")}
_LINEAR_INPUT = {"input": Extent("rows * input_channels")}
_LINEAR_OUTPUT = {"output": Extent("rows * output_channels")}
_LINEAR_STEPS = "(up(input_channels, 4) // 2)"
_PAIRS_LINEAR = Bounds(
    "kernels/linear/linear.h",
    _LINEAR,
    {
        **_LINEAR_INPUT,
        "weight": Extent(f"up(output_channels, 2) // 2 * {_LINEAR_STEPS}", 4),
        "bias": Extent("up(output_channels, 2) * 3", 4),
    },
    _LINEAR_OUTPUT,
    scratch=f"(4 if rows < 4 else 16) * {_LINEAR_STEPS}",
)

_BROADCAST = {"size": (1, _LONG), "a_stride": (0, _LONG), "b_stride": (0, _LONG)}


def _two_operands(header: str, size: int) -> Bounds:
    return Bounds(
        header,
        _BROADCAST,
        {
            "a": Extent("span(size, a_stride)", size),
            "b": Extent("span(size, b_stride)", size),
        },
        {"output": Extent("product(size)", size)},
        # The innermost loop goes by one element, or has one of b.
        needs=("a_stride[4] == 1 or size[4] == 1", "b_stride[4] <= 1"),
    )


def _elements(header: str, read: int, written: int, table: int = 0) -> Bounds:
    tables = {"table": Extent(str(table))} if table else {}
    return Bounds(
        header,
        {"size": (1, _LONG)},
        {"input": Extent("size", read), **tables},
        {"output": Extent("size", written)},
        has_params=not table,
    )


def _softmax(has_params: bool) -> Bounds:
    whole = "outer * size * inner"
    return Bounds(
        "kernels/softmax/softmax.h",
        _sizes("outer size inner"),
        {"input": Extent(whole), "exp_table": Extent("256", 4)},
        {"output": Extent(whole)},
        has_params=has_params,
    )


def _columns(taps: str) -> Bounds:
    """A kernel on planes of columns: it computes how many windows its scratch is for."""
    runs = "kernel_h * (1 if dilation_w == 1 else kernel_w)"
    return Bounds(
        "kernels/depthwise_conv2d/depthwise_columns.h",
        _DEPTHWISE,
        {
            "input": Extent(_INPUT),
            "weight": Extent("up(input_c, 4) * kernel_h * kernel_w"),
            "factors": Extent("up(input_c, 4) * 2", 4),
            "shift": Extent("up(input_c, 4)"),
        },
        _DEPTHWISE_OUTPUT,
        _DILATED,
        scratch="scratch_bytes",
        # Planes are reached with offsets of 16 bits.
        needs=(taps, f"scratch_bytes <= 65551 + 16 * {runs}"),
    )


def _planes(stride: int) -> Bounds:
    """A kernel on planes of channels, with one stride in width: three rows of four planes."""
    row_words = "(output_w // 2 + output_w % 2 + 1)" if stride == 1 else "(output_w + 1)"
    return Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {"input": Extent(_INPUT), "bias": Extent("up(input_c, 4) * 6", 4)},
        _DEPTHWISE_OUTPUT,
        _DILATED,
        scratch="scratch_bytes",
        needs=(
            "input_c >= 4",
            "kernel_h == 3 and kernel_w == 3 and dilation_h == 1 and dilation_w == 1",
            f"stride_w == {stride} and output_w >= 2",
            f"scratch_bytes // (16 * {row_words}) >= 3",
        ),
    )


def _mean(*needs: str) -> Bounds:
    return Bounds(
        "kernels/mean/mean.h",
        {
            "kept": (1, _LONG),
            "kept_stride": (0, _LONG),
            "reduced": (1, _LONG),
            "reduced_stride": (0, _LONG),
        },
        {"input": Extent("span(kept, kept_stride) + span(reduced, reduced_stride) - 1")},
        {"output": Extent("product(kept)")},
        needs=needs,
    )


BOUNDS: dict[str, Bounds] = {
    "pl_linear_s8": Bounds(
        "kernels/linear/linear.h",
        _LINEAR,
        {
            **_LINEAR_INPUT,
            "weight": Extent("up(output_channels, block) * input_channels"),
            "bias": Extent("up(output_channels, block)", 4),
        },
        _LINEAR_OUTPUT,
        factors="output_channels",
    ),
    "pl_linear_pairs_s8": _PAIRS_LINEAR,
    "pl_linear_wide_pairs_s8": _PAIRS_LINEAR,
    "pl_linear_blocks_s8": Bounds(
        "kernels/linear/linear.h",
        _LINEAR,
        {
            **_LINEAR_INPUT,
            "weight": Extent("up(output_channels, 4) * up(input_channels, 16)"),
            "bias": Extent("up(output_channels, 4) * 3", 4),
        },
        _LINEAR_OUTPUT,
    ),
    "pl_conv2d_s8": Bounds(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(_INPUT),
            "weight": Extent(f"groups * packed_c * {_DEPTH}"),
            "bias": Extent("groups * packed_c", 4),
        },
        _CONV_OUTPUT,
        _DILATED,
        factors="(groups - 1) * packed_c + output_c // groups",
        scratch=f"gathered * {_DEPTH}",
        needs=(*_GROUPED, "packed_c % block == 0", "gathered >= 1"),
    ),
    "pl_conv2d_runs_s8": Bounds(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(_RUNS),
            "weight": Extent("up(output_c, block) * kernel_h * kernel_w * input_c"),
            "bias": Extent("up(output_c, block)", 4),
        },
        _CONV_OUTPUT,
        _DILATED,
        factors="output_c",
    ),
    "pl_conv2d_pairs_s8": _PAIRS_CONV,
    "pl_conv2d_wide_pairs_s8": _PAIRS_CONV,
    "pl_conv2d_blocks_s8": Bounds(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(f"{_RUNS} if gathered == 0 else {_INPUT}"),
            "weight": Extent(f"groups * packed_c * up({_DEPTH}, 16)"),
            "bias": Extent("groups * packed_c * 3", 4),
        },
        _CONV_OUTPUT,
        _DILATED,
        scratch="0 if gathered == 0 else ((gathered - 1) * (stride_w // dilation_w if gathered == 1"
        " or stride_w % dilation_w == 0 else stride_w) + kernel_w) * kernel_h * "
        "(input_c // groups)",
        needs=(*_GROUPED, "packed_c % 4 == 0", "gathered >= 1 or pad_top == 0 and groups == 1"),
    ),
    "pl_depthwise_conv2d_s8": Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {
            "input": Extent(_INPUT),
            "weight": Extent("kernel_h * kernel_w * input_c"),
            "bias": Extent("input_c", 4),
        },
        _DEPTHWISE_OUTPUT,
        _DILATED,
        factors="input_c",
        scratch=f"0 if {_UNPADDED} and (dilation_w == 1 or kernel_w == 1) "
        "else kernel_h * kernel_w * input_c",
    ),
    "pl_depthwise_by_4_s8": Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {
            "input": Extent(_INPUT),
            "weight": Extent("up(input_c, 4) * kernel_h * kernel_w"),
            "bias": Extent("up(input_c, 4) * 3", 4),
        },
        _DEPTHWISE_OUTPUT,
        _DILATED,
        scratch=f"0 if {_UNPADDED} else kernel_h * kernel_w * input_c",
        needs=("input_c >= 4",),
    ),
    "pl_depthwise_windows_s8": Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {
            "input": Extent(_INPUT),
            "weight": Extent("up(input_c, 4) * kernel_h * kernel_w"),
            "bias": Extent("up(input_c, 4) * 3", 4),
        },
        _DEPTHWISE_OUTPUT,
        _DILATED,
        scratch="scratch_bytes",
        needs=(
            "input_c >= 4",
            "stride_w <= 2 and (kernel_w == 1 or dilation_w == 1)",
            # The taps of a channel, and the rows of four planes that a row of windows has.
            "scratch_bytes >= kernel_h * (8 * (kernel_w // 2 + 1) if stride_w == 1 "
            "else 4 * up(kernel_w, 2) // 2) + ((kernel_h - 1) * dilation_h + 1) * 16 * "
            "(up(output_w, 4) // 2 + kernel_w // 2 if stride_w == 1 "
            "else up(output_w, 4) + up(kernel_w, 2) // 2 - 1)",
        ),
    ),
    "pl_depthwise_planes_s8": _planes(1),
    "pl_depthwise_planes_lowest_s8": _planes(1),
    "pl_depthwise_planes_2_s8": _planes(2),
    "pl_depthwise_planes_2_lowest_s8": _planes(2),
    "pl_depthwise_columns_s8": _columns("kernel_h * kernel_w <= 16"),
    "pl_depthwise_large_columns_s8": _columns("kernel_h * kernel_w <= 4095"),
    "pl_depthwise_direct_s8": Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {
            "input": Extent(_INPUT),
            "weight": Extent("up(input_c, 16) * kernel_h * kernel_w"),
            "bias": Extent("up(input_c, 16) * 3", 4),
        },
        _DEPTHWISE_OUTPUT,
        _DILATED,
    ),
    "pl_avg_pool2d_s8": Bounds(
        "kernels/avg_pool2d/avg_pool2d.h",
        _IMAGE,
        {"input": Extent(_INPUT)},
        {"output": Extent(_POOLED)},
        {**_STRIDES, **_sizes("pad_top pad_bottom pad_left pad_right", 255, 0)},
        needs=_TAPS,
    ),
    "pl_max_pool2d_s8": Bounds(
        "kernels/max_pool2d/max_pool2d.h",
        _IMAGE,
        {"input": Extent(_INPUT)},
        {"output": Extent(_POOLED)},
        _DILATED,
        needs=(
            *_TAPS[2:],
            "pad_top <= (kernel_h - 1) * dilation_h",
            "pad_left <= (kernel_w - 1) * dilation_w",
            # So that the taps do not step over all of it.
            "pad_top == 0 or dilation_h <= input_h",
            "pad_left == 0 or dilation_w <= input_w",
        ),
    ),
    "pl_mean_s8": _mean(),
    "pl_mean_columns_s8": _mean(
        "kept[2] >= 32 and kept_stride[2] == 1",
        "reduced[0] == 1 and reduced[1] == 1",
    ),
    "pl_mean_pool2d_s8": Bounds(
        "kernels/mean_pool2d/mean_pool2d.h",
        _IMAGE,
        {"input": Extent(_INPUT)},
        {"output": Extent(_POOLED)},
        {
            **_STRIDES,
            **_sizes("parts_h parts_w"),
            **_sizes("pad_top pad_bottom pad_left pad_right", 255, 0),
            "shift": (-31, 30),
        },
        needs=(
            "pad_top * parts_h < kernel_h",
            "pad_left * parts_w < kernel_w",
            f"{_LAST_Y} // parts_h - pad_top < input_h",
            f"{_LAST_X} // parts_w - pad_left < input_w",
            # No count of a window, which is divided by, wraps to 0.
            f"(kernel_h // parts_h + 2) * (kernel_w // parts_w + 2) <= {_LONG}",
        ),
    ),
    "pl_add_s8": _two_operands("kernels/add/add.h", 1),
    "pl_add_down_s8": _two_operands("kernels/add/add.h", 1),
    "pl_mul_s8": _two_operands("kernels/mul/mul.h", 1),
    "pl_mul_down_s8": _two_operands("kernels/mul/mul.h", 1),
    "pl_lut_s8": _elements("kernels/lut/lut.h", 1, 1, table=256),
    "pl_quantize_f32_s8": _elements("kernels/quantize/quantize.h", 4, 1),
    "pl_dequantize_s8_f32": _elements("kernels/dequantize/dequantize.h", 1, 4),
    "pl_softmax_s8": _softmax(has_params=False),
    "pl_softmax_rows_s8": _softmax(has_params=False),
    "pl_softmax_steps_s8": _softmax(has_params=True),
}
