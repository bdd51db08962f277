# SPDX-License-Identifier: Apache-2.0
"""Windows for pooling cases."""

from collections.abc import Iterator
from typing import Any

from kernels.testing.values import Values

_Shape = tuple[int, ...]

# name, input NHWC, kernel, stride, padding, dilation, ceil_mode, on boards too
_NAMED: list[tuple[str, _Shape, _Shape, _Shape, _Shape, _Shape, bool, bool]] = [
    ("2x2", (1, 6, 8, 8), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1), False, True),
    ("3x3 padded", (1, 5, 6, 5), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), False, True),
    ("3x3 stride 1", (2, 4, 4, 3), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), False, True),
    ("5x6, 18 channels", (1, 7, 9, 18), (5, 6), (3, 2), (2, 2, 3, 2), (1, 1), False, True),
    ("4x3 stride 1", (1, 6, 5, 11), (4, 3), (1, 1), (2, 0, 1, 1), (1, 1), False, True),
    ("ceil", (1, 6, 7, 4), (3, 3), (2, 2), (0, 0, 0, 0), (1, 1), True, True),
    ("ceil, padded", (1, 7, 6, 9), (2, 3), (2, 2), (1, 1, 1, 1), (1, 1), True, True),
    ("ceil, stride wider than kernel", (1, 8, 9, 2), (2, 2), (3, 3), (0, 0, 0, 0), (1, 1), True,
     False),
    ("uneven padding", (1, 5, 5, 6), (3, 3), (1, 2), (1, 0, 0, 1), (1, 1), False, True),
    ("1-d", (1, 1, 15, 7), (1, 4), (1, 3), (0, 0, 2, 1), (1, 1), False, False),
    ("one pixel", (1, 1, 1, 5), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), False, False),
    ("whole image", (1, 7, 6, 12), (7, 6), (1, 1), (0, 0, 0, 0), (1, 1), False, True),
    ("1x1", (1, 3, 3, 4), (1, 1), (2, 2), (0, 0, 0, 0), (1, 1), False, False),
    ("one channel", (1, 9, 9, 1), (3, 2), (2, 2), (0, 0, 0, 0), (1, 1), False, False),
    ("every tie", (1, 256, 2, 2), (1, 2), (1, 2), (0, 0, 0, 0), (1, 1), False, True),
    ("2x2, 37 channels", (1, 4, 6, 37), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1), False, True),
    ("3x3, 20 channels", (1, 5, 9, 20), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), False, True),
    ("three channels", (1, 4, 15, 3), (2, 2), (2, 2), (0, 0, 1, 0), (1, 1), False, True),
    ("one channel, long rows", (1, 3, 40, 1), (2, 2), (1, 2), (0, 0, 0, 0), (1, 1), False, True),
    ("four channels, far apart", (1, 2, 21, 4), (1, 2), (1, 4), (0, 0, 0, 0), (1, 1), False, True),
    ("images of 51 channels", (2, 3, 5, 51), (3, 5), (1, 1), (0, 0, 0, 0), (1, 1), False, True),
    ("2x2, 10 channels", (1, 6, 7, 10), (2, 2), (2, 2), (0, 0, 1, 0), (1, 1), False, True),
    ("3x3, 9 channels", (1, 6, 9, 9), (3, 3), (3, 3), (0, 0, 0, 0), (1, 1), False, True),
    ("1-d, four columns", (1, 1, 22, 13), (1, 4), (1, 4), (0, 0, 0, 0), (1, 1), False, True),
    ("1-d, 24 channels", (1, 1, 15, 24), (1, 2), (1, 2), (0, 0, 0, 0), (1, 1), False, True),
    ("1-d, 6 channels", (1, 2, 15, 6), (1, 5), (1, 5), (0, 0, 0, 0), (1, 1), False, True),
    ("columns, stride 1", (1, 9, 7, 7), (4, 1), (2, 1), (0, 0, 0, 0), (1, 1), False, True),
    ("dilated", (1, 9, 9, 5), (3, 2), (1, 2), (1, 1, 1, 1), (2, 3), False, True),
    ("dilated, ceil", (1, 10, 10, 4), (3, 3), (2, 3), (1, 1, 1, 1), (2, 2), True, False),
]  # fmt: skip


# name, input NHWC, output height and width, on boards too
_ADAPTIVE: list[tuple[str, _Shape, list[int], bool]] = [
    ("one pixel", (1, 5, 6, 9), [1, 1], True),
    ("all pixels", (1, 4, 3, 5), [4, 3], True),
    ("even", (2, 6, 8, 4), [3, 4], True),
    ("uneven", (1, 7, 10, 6), [3, 4], True),
    ("larger output", (1, 3, 2, 5), [5, 7], True),
    ("1-d", (1, 1, 11, 3), [1, 4], False),
    ("one channel", (1, 9, 7, 1), [2, 3], False),
]


def adaptive_windows(count: int) -> Iterator[tuple[str, _Shape, list[int], bool]]:
    """Yield windows as (name, input shape, output_size, True for boards too)."""
    yield from _ADAPTIVE
    for index in range(count):
        values = Values("adaptive", index)
        shape = tuple(values.integer(1, limit) for limit in (2, 12, 12, 10))
        yield f"random {index}", shape, [values.integer(1, 8), values.integer(1, 8)], False


def windows(count: int, dilation: bool) -> Iterator[tuple[str, _Shape, dict[str, Any], bool]]:
    """Yield name, input shape, window arguments, also on boards."""
    for name, shape, kernel, stride, padding, spread, ceil, board in _NAMED:
        if dilation or spread == (1, 1):
            yield (
                name,
                shape,
                _window(shape, kernel, stride, padding, spread, ceil, dilation),
                board,
            )
    index = made = 0
    while made < count:
        values = Values("pool", index)
        index += 1
        kernel = (values.integer(1, 4), values.integer(1, 4))
        padding = tuple(values.integer(0, kernel[d // 2] // 2) for d in range(4))
        spread = tuple(values.choice([1, 1, 2, 3]) if dilation else 1 for _ in range(2))
        shape = (values.choice([1, 1, 2]), values.integer(1, 10), values.integer(1, 10), 0)
        shape = (*shape[:3], values.integer(1, 9))
        stride = (values.integer(1, 4), values.integer(1, 4))
        if any(
            shape[1 + d] + padding[2 * d] + padding[2 * d + 1] < spread[d] * (kernel[d] - 1) + 1
            for d in range(2)
        ):
            continue
        window = _window(shape, kernel, stride, padding, spread, bool(made % 2), dilation)
        if _has_empty(shape, window):
            continue
        yield f"random {made}", shape, window, False
        made += 1


def _window(
    shape: _Shape,
    kernel: _Shape,
    stride: _Shape,
    padding: _Shape,
    spread: _Shape,
    ceil: bool,
    dilation: bool,
) -> dict[str, Any]:
    """Return the arguments, with output_size as torch computes it."""
    sizes: list[int] = []
    for d in range(2):
        before, after = padding[2 * d], padding[2 * d + 1]
        room = shape[1 + d] + before + after - spread[d] * (kernel[d] - 1) - 1
        size = (room + (stride[d] - 1 if ceil else 0)) // stride[d] + 1
        if ceil and (size - 1) * stride[d] >= shape[1 + d] + before:
            size -= 1
        sizes.append(size)
    window: dict[str, Any] = {
        "kernel": list(kernel),
        "stride": list(stride),
        "padding": list(padding),
        "output_size": sizes,
    }
    return window | {"dilation": list(spread)} if dilation else window


def _has_empty(shape: _Shape, window: dict[str, Any]) -> bool:
    spread = window.get("dilation", [1, 1])
    return any(
        not any(
            0 <= i * window["stride"][d] - window["padding"][2 * d] + k * spread[d] < shape[1 + d]
            for k in range(window["kernel"][d])
        )
        for d in range(2)
        for i in range(window["output_size"][d])
    )
