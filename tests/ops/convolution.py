# SPDX-License-Identifier: Apache-2.0
"""conv2d, depthwise_conv2d, transpose_conv2d and linear: every attribute, fused activations, 1d
forms.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input, sequence, spatial

# name, input channels, output channels, kernel, attributes, input height and width
_CONV2D: tuple[tuple[str, int, int, Any, dict[str, Any], tuple[int, int]], ...] = (
    ("3x3", 3, 8, 3, {}, (8, 8)),
    ("no_bias", 3, 5, 3, {"bias": False}, (6, 7)),
    ("1x1", 8, 6, 1, {}, (5, 4)),
    ("1x1_one_pixel", 16, 4, 1, {}, (1, 1)),
    ("1x1_stride_2", 8, 8, 1, {"stride": 2}, (7, 6)),
    ("kernel_2x5", 4, 4, (2, 5), {}, (6, 9)),
    ("kernel_is_input", 4, 6, (5, 3), {}, (5, 3)),
    ("stride_2", 4, 8, 3, {"stride": 2}, (9, 8)),
    ("stride_1x3", 4, 4, 3, {"stride": (1, 3)}, (6, 11)),
    ("stride_beyond_kernel", 4, 4, 1, {"stride": 3}, (8, 8)),
    ("padding_1", 4, 4, 3, {"padding": 1}, (5, 5)),
    ("padding_2x0", 4, 4, 3, {"padding": (2, 0)}, (5, 5)),
    ("padding_same", 4, 4, 3, {"padding": "same"}, (6, 5)),
    ("padding_same_even_kernel", 4, 4, (4, 2), {"padding": "same"}, (6, 6)),
    ("padding_same_dilated", 4, 4, 3, {"padding": "same", "dilation": 2}, (7, 7)),
    ("padding_valid", 4, 4, 3, {"padding": "valid"}, (6, 6)),
    ("padding_beyond_input", 2, 3, 5, {"padding": 4}, (2, 2)),
    ("dilation_2", 4, 4, 3, {"dilation": 2}, (8, 8)),
    ("dilation_3x1", 4, 4, 3, {"dilation": (3, 1), "padding": (3, 1)}, (8, 6)),
    ("groups_2", 8, 6, 3, {"groups": 2}, (6, 6)),
    ("groups_4_stride_2", 8, 16, 3, {"groups": 4, "stride": 2, "padding": 1}, (7, 7)),
    ("one_input_channel", 1, 8, 3, {"padding": 1}, (6, 6)),
    ("one_output_channel", 8, 1, 3, {}, (6, 6)),
    ("many_channels", 40, 33, 3, {"padding": 1}, (4, 4)),
    ("everything", 4, 6, (3, 2), {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}, (9, 9)),
)

# The same for groups = input channels.
_DEPTHWISE: tuple[tuple[str, int, int, Any, dict[str, Any], tuple[int, int]], ...] = (
    ("3x3", 8, 8, 3, {"padding": 1}, (6, 6)),
    ("no_bias", 5, 5, 3, {"bias": False}, (6, 6)),
    ("1x1", 8, 8, 1, {}, (4, 4)),
    ("stride_2", 8, 8, 3, {"stride": 2, "padding": 1}, (7, 8)),
    ("stride_2x1", 4, 4, (5, 3), {"stride": (2, 1)}, (9, 6)),
    ("dilation_2", 4, 4, 3, {"dilation": 2, "padding": 2}, (7, 7)),
    ("multiplier_2", 4, 8, 3, {"padding": 1}, (6, 6)),
    ("multiplier_3_stride_2", 3, 9, 3, {"stride": 2}, (7, 7)),
    ("same_even_kernel", 4, 4, 4, {"padding": "same"}, (6, 6)),
    ("many_channels", 37, 37, 3, {"padding": 1}, (4, 4)),
    ("global", 16, 16, (4, 4), {}, (4, 4)),
)

# Same as _CONV2D, for nn.ConvTranspose2d.
_TRANSPOSED: tuple[tuple[str, int, int, Any, dict[str, Any], tuple[int, int]], ...] = (
    ("3x3", 3, 8, 3, {}, (4, 5)),
    ("no_bias", 3, 5, 3, {"bias": False}, (3, 4)),
    ("2x2_stride_2", 8, 4, 2, {"stride": 2}, (4, 3)),
    (
        "3x3_stride_2_output_padding",
        4,
        6,
        3,
        {"stride": 2, "padding": 1, "output_padding": 1},
        (4, 4),
    ),
    ("4x4_stride_2_padding_1", 6, 5, 4, {"stride": 2, "padding": 1}, (3, 4)),
    ("stride_1x3", 4, 4, (2, 3), {"stride": (1, 3), "output_padding": (0, 2)}, (4, 3)),
    ("stride_beyond_kernel", 4, 3, 1, {"stride": 2}, (3, 3)),
    ("dilation_2x3", 4, 4, 3, {"dilation": (2, 3), "padding": 2}, (4, 4)),
    ("groups_2", 8, 6, 3, {"groups": 2, "stride": 2}, (3, 3)),
    ("depthwise", 5, 5, 4, {"groups": 5, "stride": 2, "padding": 1}, (3, 3)),
    ("depthwise_multiplier_2", 3, 6, 3, {"groups": 3, "stride": 2}, (3, 3)),
    (
        "everything",
        4,
        6,
        (3, 2),
        {"stride": 3, "padding": 2, "output_padding": 2, "dilation": 2, "groups": 2},
        (4, 4),
    ),
)

# name, input shape, output features, attributes
_LINEAR: tuple[tuple[str, tuple[int, ...], int, dict[str, Any]], ...] = (
    ("bias", (1, 16), 10, {}),
    ("no_bias", (1, 16), 10, {"bias": False}),
    ("rank_1", (20,), 7, {}),
    ("batch_3", (3, 12), 5, {}),
    ("rank_3", (1, 6, 9), 4, {}),
    ("rank_4", (2, 2, 3, 8), 5, {"bias": False}),
    ("one_feature", (1, 30), 1, {}),
    ("one_input", (4, 1), 6, {}),
    ("long", (1, 259), 33, {}),
)

# name, length, input channels, output channels, kernel, attributes
_CONV1D: tuple[tuple[str, int, int, int, int, dict[str, Any]], ...] = (
    ("3", 16, 4, 6, 3, {}),
    ("stride_2_padding_1", 16, 4, 6, 3, {"stride": 2, "padding": 1}),
    ("dilation_2_no_bias", 16, 4, 6, 3, {"dilation": 2, "bias": False}),
    ("padding_same", 15, 4, 4, 4, {"padding": "same"}),
    ("depthwise", 16, 8, 8, 3, {"groups": 8, "padding": 1}),
)

# name, attributes of nn.Conv3d(2, 3), depth, dialect ops, transposes; the input has 4x3 pixels
_CONV3D: tuple[tuple[str, dict[str, Any], int, dict[str, int], int], ...] = (
    ("one_slice_deep", {"kernel_size": (1, 3, 2)}, 3, {}, 2),
    ("of_one_slice", {"kernel_size": 3, "padding": 1}, 1, {}, 2),
    ("whole_depth", {"kernel_size": (2, 3, 3)}, 2, {}, 2),
    ("windows", {"kernel_size": (2, 3, 3), "padding": 1}, 3, {"pad": 1, "gather": 1}, 2),
)

_ACTIVATIONS: tuple[tuple[str, Callable[[], nn.Module]], ...] = (
    ("relu", nn.ReLU),
    ("relu6", nn.ReLU6),
    ("hardtanh", partial(nn.Hardtanh, -0.5, 0.75)),
    ("clamp_minimum", partial(Function, partial(torch.clamp, min=-0.25))),
    ("clamp_maximum", partial(Function, partial(torch.clamp, max=0.5))),
)


def cases() -> Iterator[Case]:
    module: Callable[[], nn.Module]
    for name, inputs, outputs, kernel, attributes, size in _CONV2D:
        module = partial(nn.Conv2d, inputs, outputs, kernel, **attributes)
        yield spatial(f"conv2d_{name}", module, (1, inputs, *size), {"conv2d": 1})
    for name, inputs, outputs, kernel, attributes, size in _DEPTHWISE:
        module = partial(nn.Conv2d, inputs, outputs, kernel, groups=inputs, **attributes)
        ops = {"depthwise_conv2d": 1}
        yield spatial(f"depthwise_conv2d_{name}", module, (1, inputs, *size), ops)
    for name, inputs, outputs, kernel, attributes, size in _TRANSPOSED:
        module = partial(nn.ConvTranspose2d, inputs, outputs, kernel, **attributes)
        ops = {"transpose_conv2d": 1}
        yield spatial(f"conv_transpose2d_{name}", module, (1, inputs, *size), ops)
    for groups in (1, 2):
        module = partial(nn.ConvTranspose1d, 4, 6, 4, 2, 1, groups=groups)
        ops = {"transpose_conv2d": 1}
        yield spatial(f"conv_transpose1d_groups_{groups}", module, (1, 4, 7), ops)
    for name, length, inputs, outputs, width, attributes in _CONV1D:
        module = partial(nn.Conv1d, inputs, outputs, width, **attributes)
        ops = {"depthwise_conv2d" if "groups" in attributes else "conv2d": 1}
        yield spatial(f"conv1d_{name}", module, (1, inputs, length), ops)
    for name, attributes, depth, ops, transposes in _CONV3D:
        module = partial(sequence, partial(nn.Conv3d, 2, 3, **attributes), nn.ReLU)
        image = Input((1, 2, depth, 4, 3))
        yield Case(f"conv3d_{name}", module, (image,), {**ops, "conv2d": 1}, transposes)
    for name, shape, outputs, attributes in _LINEAR:
        module = partial(nn.Linear, shape[-1], outputs, **attributes)
        yield Case(f"linear_{name}", module, (Input(shape),), {"linear": 1})
    for name, activation in _ACTIVATIONS:
        module = partial(sequence, partial(nn.Conv2d, 4, 6, 3), activation)
        yield spatial(f"conv2d_and_{name}", module, (1, 4, 6, 6), {"conv2d": 1})
        module = partial(sequence, partial(nn.Conv2d, 6, 6, 3, groups=6), activation)
        yield spatial(f"depthwise_conv2d_and_{name}", module, (1, 6, 6, 6), {"depthwise_conv2d": 1})
        module = partial(sequence, partial(nn.ConvTranspose2d, 4, 6, 2, 2), activation)
        yield spatial(f"conv_transpose2d_and_{name}", module, (1, 4, 3, 3), {"transpose_conv2d": 1})
        module = partial(sequence, partial(nn.Linear, 12, 9), activation)
        yield Case(f"linear_and_{name}", module, (Input((1, 12)),), {"linear": 1})
    module = partial(nn.Conv2d, 4, 6, 3, padding=1)
    yield spatial("conv2d_batch_2", module, (2, 4, 5, 5), {"conv2d": 1})
    yield spatial("conv2d_positive_input", module, (1, 4, 5, 5), {"conv2d": 1}, low=0.0, high=1.0)
    yield spatial("conv2d_offset_input", module, (1, 4, 5, 5), {"conv2d": 1}, low=3.0, high=4.0)
    yield Case(
        "conv2d_channels_last", module, (Input((1, 4, 5, 5), channels_last=True),), {"conv2d": 1}
    )
    pad_then_conv = partial(
        sequence, partial(nn.ZeroPad2d, (0, 1, 0, 1)), partial(nn.Conv2d, 4, 6, 3, 2)
    )
    yield spatial("conv2d_after_asymmetric_pad", pad_then_conv, (1, 4, 8, 8), {"conv2d": 1})


factory, calibration, test_inputs = as_model(cases)
