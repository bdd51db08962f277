# SPDX-License-Identifier: Apache-2.0
"""Max, average and adaptive pooling, and linear resizing, over one and two dimensions."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input, spatial

# module, kind, arguments, attributes, height and width (or length), op
_POOLS: tuple[
    tuple[Callable[..., nn.Module], str, tuple[Any, ...], dict[str, Any], tuple[int, ...], str], ...
] = (
    (nn.MaxPool2d, "2", (2,), {}, (6, 6), "max_pool2d"),
    (nn.MaxPool2d, "3_stride_2_padding_1", (3,), {"stride": 2, "padding": 1}, (7, 7), "max_pool2d"),
    (nn.MaxPool2d, "overlapping", (3,), {"stride": 1}, (6, 5), "max_pool2d"),
    (nn.MaxPool2d, "kernel_1x3", ((1, 3),), {"stride": (1, 2)}, (4, 9), "max_pool2d"),
    (nn.MaxPool2d, "dilation_2", (2,), {"stride": 1, "dilation": 2}, (6, 6), "max_pool2d"),
    (nn.MaxPool2d, "ceil_mode", (2,), {"ceil_mode": True}, (7, 5), "max_pool2d"),
    (
        nn.MaxPool2d,
        "ceil_mode_padding_dilation",
        (3,),
        {"stride": 2, "padding": 1, "dilation": 2, "ceil_mode": True},
        (9, 8),
        "max_pool2d",
    ),
    (nn.MaxPool2d, "leaves_a_rest", (2,), {}, (7, 5), "max_pool2d"),
    (nn.MaxPool2d, "global", (4,), {}, (4, 4), "max_pool2d"),
    (nn.AvgPool2d, "2", (2,), {}, (6, 6), "mean_pool2d"),
    (
        nn.AvgPool2d,
        "3_stride_2_padding_1",
        (3,),
        {"stride": 2, "padding": 1},
        (7, 7),
        "mean_pool2d",
    ),
    (
        nn.AvgPool2d,
        "pad_not_counted",
        (3,),
        {"stride": 2, "padding": 1, "count_include_pad": False},
        (7, 7),
        "mean_pool2d",
    ),
    (nn.AvgPool2d, "ceil_mode", (2,), {"ceil_mode": True}, (7, 5), "mean_pool2d"),
    (
        nn.AvgPool2d,
        "ceil_mode_padding",
        (3,),
        {"stride": 2, "padding": 1, "ceil_mode": True},
        (8, 6),
        "mean_pool2d",
    ),
    (
        nn.AvgPool2d,
        "ceil_mode_pad_not_counted",
        (3,),
        {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
        (8, 6),
        "mean_pool2d",
    ),
    (nn.AvgPool2d, "divisor_override", (2,), {"divisor_override": 3}, (6, 6), "mean_pool2d"),
    (
        nn.AvgPool2d,
        "divisor_override_padding",
        (3,),
        {"stride": 2, "padding": 1, "divisor_override": 7},
        (7, 7),
        "mean_pool2d",
    ),
    (nn.AvgPool2d, "kernel_2x3", ((2, 3),), {"stride": (2, 1)}, (6, 7), "mean_pool2d"),
    (nn.AvgPool2d, "global", (5,), {}, (5, 5), "mean"),
    (nn.AdaptiveAvgPool2d, "1", (1,), {}, (5, 7), "mean"),
    (nn.AdaptiveAvgPool2d, "keeps_height", ((None, 1),), {}, (6, 5), "mean"),
    (nn.AdaptiveAvgPool2d, "even_windows", ((2, 3),), {}, (6, 6), "mean_pool2d"),
    (nn.AdaptiveAvgPool2d, "uneven_windows", ((3, 2),), {}, (7, 5), "mean_pool2d"),
    (nn.AdaptiveAvgPool2d, "keeps_width", ((2, None),), {}, (6, 5), "mean_pool2d"),
    (nn.AdaptiveAvgPool2d, "larger_than_input", ((5, 5),), {}, (3, 3), "adaptive_avg_pool2d"),
    (nn.AdaptiveMaxPool2d, "1", (1,), {}, (5, 7), "max_pool2d"),
    (nn.AdaptiveMaxPool2d, "even_windows", ((2, 3),), {}, (6, 6), "max_pool2d"),
    (nn.AdaptiveMaxPool2d, "uneven_windows", ((3, 2),), {}, (7, 5), "adaptive_max_pool2d"),
    (nn.MaxPool1d, "2", (2,), {}, (12,), "max_pool2d"),
    (
        nn.MaxPool1d,
        "everything",
        (3,),
        {"stride": 2, "padding": 1, "dilation": 2, "ceil_mode": True},
        (14,),
        "max_pool2d",
    ),
    (nn.AvgPool1d, "2", (2,), {}, (12,), "mean_pool2d"),
    (
        nn.AvgPool1d,
        "everything",
        (3,),
        {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
        (14,),
        "mean_pool2d",
    ),
    (nn.AdaptiveAvgPool1d, "1", (1,), {}, (9,), "mean"),
    (nn.AdaptiveAvgPool1d, "uneven_windows", (4,), {}, (9,), "mean_pool2d"),
    (nn.AdaptiveMaxPool1d, "1", (1,), {}, (9,), "max_pool2d"),
    (nn.AdaptiveMaxPool1d, "uneven_windows", (4,), {}, (9,), "adaptive_max_pool2d"),
)


# name, input shape, attributes of nn.Upsample
_LINEAR: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("twice", (1, 5, 4, 3), {"scale_factor": 2}),
    ("twice_align_corners", (1, 5, 4, 3), {"scale_factor": 2, "align_corners": True}),
    ("three_times_rows", (1, 5, 3, 4), {"scale_factor": (3, 1)}),
    ("fraction", (1, 5, 6, 5), {"scale_factor": 1.7}),
    (
        "fraction_of_whole_sizes",
        (1, 5, 6, 5),
        {"scale_factor": 1.7, "recompute_scale_factor": True},
    ),
    ("size", (1, 5, 7, 5), {"size": (3, 11)}),
    ("size_align_corners", (1, 5, 7, 5), {"size": (3, 11), "align_corners": True}),
    ("one_pixel", (1, 5, 7, 5), {"size": (1, 1)}),
    ("of_one_pixel", (1, 5, 1, 1), {"size": (3, 2), "align_corners": True}),
    ("batch", (2, 3, 3, 3), {"scale_factor": 2}),
    ("of_one_dimension", (1, 5, 7), {"scale_factor": 2}),
    ("of_one_dimension_align_corners", (1, 5, 7), {"size": 12, "align_corners": True}),
)


def _beside_average(x: torch.Tensor) -> torch.Tensor:
    """Return an average with the scale of its input, as both are concatenated."""
    return torch.cat([x, functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)], 1)


def _beside_adaptive(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:, :, 1:5, 1:6], functional.adaptive_avg_pool2d(x, (4, 5))], 1)


def cases() -> Iterator[Case]:
    module: Callable[[], nn.Module]
    for pool, what, arguments, attributes, size, op in _POOLS:
        name = f"{pool.__name__.lower()}_{what}"
        module, shape = partial(pool, *arguments, **attributes), (1, 5, *size)
        if op == "mean":  # takes its axes wherever they are
            yield Case(name, module, (Input(shape),), {op: 1})
        else:
            yield spatial(name, module, shape, {op: 1})
    for what, shape, attributes in _LINEAR:
        mode = "bilinear" if len(shape) == 4 else "linear"
        module = partial(nn.Upsample, mode=mode, **attributes)
        yield spatial(f"resize_{what}", module, shape, {"resize_bilinear": 1})
    for what, function in (("average", _beside_average), ("adaptive", _beside_adaptive)):
        op = "avg_pool2d" if what == "average" else "adaptive_avg_pool2d"
        cut = {} if what == "average" else {"slice": 2}
        module, ops = partial(Function, function), {op: 1, "cat": 1, **cut}
        yield spatial(f"beside_{what}", module, (1, 4, 6, 7), ops)
    volume = (Input((1, 3, 4, 5, 3)),)
    yield Case("maxpool3d", partial(nn.MaxPool3d, 3, 2, 1), volume, {"max_pool2d": 2}, 2)
    yield Case("avgpool3d", partial(nn.AvgPool3d, 2, 1), volume, {"mean_pool2d": 2}, 2)
    for pool, op in ((nn.MaxPool2d, "max_pool2d"), (nn.AvgPool2d, "mean_pool2d")):
        name = pool.__name__.lower()
        module = partial(pool, 2)
        yield spatial(f"{name}_batch_2", module, (2, 3, 4, 4), {op: 1})
        yield spatial(f"{name}_negative_input", module, (1, 3, 4, 4), {op: 1}, low=-3.0, high=-1.0)
        image = Input((1, 3, 4, 4), channels_last=True)
        yield Case(f"{name}_channels_last", module, (image,), {op: 1})


factory, calibration, test_inputs = as_model(cases)
