# SPDX-License-Identifier: Apache-2.0
"""Classes of wrong results that other stacks shipped in 2026, as models for our own engines.

Classes without a model of their own are in test_field_faults.py.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from tests.ops.bundle import Bundle, as_model
from tests.ops.case import Case, Function, Input

_IMAGE = (1, 4, 6, 7)


def _of(name: str, function: Callable[..., object], *inputs: Input) -> Case:
    return Case(name, partial(Function, function), inputs, {})


def _layer(name: str, make: Callable[[], nn.Module], shape: tuple[int, ...] = _IMAGE) -> Case:
    return Case(name, make, (Input(shape),), {})


def add_of_two_scales() -> Iterator[Case]:
    """Yield sums of operands whose scales differ by up to 2000, either first."""
    one = Input((2, 24), -1.0, 1.0)
    for ratio in (1, 7, 2000):
        other = Input((2, 24), -float(ratio), float(ratio))
        yield _of(f"add_{ratio}", torch.add, one, other)
        yield _of(f"add_of_{ratio}", torch.add, other, one)
    yield _of("sub_small", torch.sub, Input((2, 24), 0.0, 5.0), Input((24,), 0.0, 0.01))


def bias_by_isa() -> Iterator[Case]:
    """Yield layers with large biases. Some widths fill the vectors of a core, some do not."""
    for width in (3, 16, 17):
        shape = (1, width, 3, 5)
        yield _layer(f"linear_{width}", partial(nn.Linear, width, width), (2, width))
        for kernel in (1, 3):
            make = partial(nn.Conv2d, width, width, kernel, padding=kernel // 2)
            yield _layer(f"conv_{kernel}_{width}", make, shape)
        depthwise = partial(nn.Conv2d, width, width, 3, padding=1, groups=width)
        yield _layer(f"depthwise_{width}", depthwise, shape)


def padding_of_transposed_convolution() -> Iterator[Case]:
    """Yield each padding modulo the stride, with and without output padding."""
    for kernel, stride in ((3, 2), (4, 2), (5, 3)):
        for padding, more in itertools.product(range(stride + 1), range(2)):
            make = partial(nn.ConvTranspose2d, 4, 3, kernel, stride, padding, more)
            yield _layer(f"transposed_{kernel}_{stride}_{padding}_{more}", make)


def null_scratch() -> Iterator[Case]:
    """Yield layers at the sizes where kernels need no scratch memory, and one above."""
    for size in (1, 2):
        yield _layer(f"scratch_conv_{size}", partial(nn.Conv2d, size, 1, size), (1, size, 2, 2))
        yield _layer(f"scratch_softmax_{size}", partial(nn.Softmax, -1), (1, size))
        yield _layer(f"scratch_pool_{size}", partial(nn.AvgPool2d, size), (1, size, 2, 2))
    products = Input((1, 1, 1)), Input((1, 1, 1))
    yield _of("scratch_product", torch.matmul, *products)


def dtype_at_the_border() -> Iterator[Case]:
    """Yield values of other types next to layers that an NPU runs."""
    make = partial(nn.Conv2d, 4, 5, 3)
    yield _layer("border_argmax", partial(_Then, make, lambda x: x.argmax(1)))
    yield _layer("border_mask", partial(_Then, make, lambda x: torch.where(x > 0.5, x, -x)))
    yield _layer("border_int16", partial(_Wide, make))


def groups_without_bias() -> Iterator[Case]:
    """Yield grouped and depthwise convolutions without bias, also with a multiplier."""
    for groups, out in ((2, 6), (4, 4), (4, 8)):
        for stride in (1, 2):
            make = partial(nn.Conv2d, 4, out, 3, stride, groups=groups, bias=False)
            yield _layer(f"groups_{groups}_{out}_{stride}", make)
    make_transposed = partial(nn.ConvTranspose2d, 4, 6, 3, 2, groups=2, bias=False)
    yield _layer("groups_transposed", make_transposed)


def tables_of_small_range() -> Iterator[Case]:
    """Yield functions in int8 and int16 of inputs or results in a small range."""
    functions: tuple[tuple[str, Callable[..., object], float, float], ...] = (
        ("tanh", torch.tanh, -0.01, 0.01),
        ("sigmoid", torch.sigmoid, -0.02, 0.03),
        ("exp", torch.exp, -9.0, -7.0),
        ("silu", functional.silu, -0.001, 0.002),
    )
    for name, function, low, high in functions:
        yield _of(f"table_{name}", function, Input((3, 20), low, high))
        wide = partial(_Wide, partial(Function, function))
        yield Case(f"table_{name}_wide", wide, (Input((3, 20), low, high),), {})


def divisors_of_ceil_mode() -> Iterator[Case]:
    """Yield average pools whose last windows leave the input or the padding."""
    for kernel, stride, padding, counted in itertools.product(
        (2, 3), (2, 3), (0, 1), (True, False)
    ):
        make = partial(nn.AvgPool2d, kernel, stride, padding, True, counted)
        yield _layer(f"ceil_{kernel}_{stride}_{padding}_{counted}", make, (1, 3, 6, 8))
    yield _layer("ceil_override", partial(nn.AvgPool2d, 3, 2, 1, True, divisor_override=5))


def slices_in_concatenations() -> Iterator[Case]:
    """Yield concatenations of slices: in another order, the same twice, and of results."""
    functions: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...] = (
        ("swapped", lambda x: torch.cat([x[:, 2:], x[:, :2]], 1)),
        ("twice", lambda x: torch.cat([x[:, 1:3], x[:, 1:3]], 1)),
        ("rows", lambda x: torch.cat([x[:, :, 3:], x[:, :, 1:2]], 2)),
        ("steps", lambda x: torch.cat([x[..., ::2], x[..., 1::2]], 3)),
        ("maximum", lambda x: torch.cat([x[:, 1:], x[:, 1:].amax(1, keepdim=True)], 1)),
        ("pad", lambda x: functional.pad(torch.cat([x[:, 3:], x], 1), (1, 0, 0, 2))),
    )
    for name, function in functions:
        yield _of(f"cat_{name}", function, Input(_IMAGE))
        make = partial(_Then, partial(nn.Conv2d, 4, 4, 1), function)
        yield _layer(f"cat_{name}_of_conv", make)


def unsaturated_shifts() -> Iterator[Case]:
    """Yield results that leave a narrow output: sums are shifted up and must saturate."""
    values = Input((2, 24))
    for percent in (50, 2):
        limit = percent / 100.0
        clipped = partial(torch.clamp, min=-limit, max=limit)
        yield _of(f"shift_{percent}", lambda x, clip=clipped: clip(3.0 * x), values)
        yield _of(f"shift_add_{percent}", lambda x, y, clip=clipped: clip(x + y), values, values)
        yield _of(f"shift_mul_{percent}", lambda x, y, clip=clipped: clip(x * y), values, values)
        linear = partial(_Then, partial(nn.Linear, 4, 5, bias=False), clipped)
        yield _layer(f"shift_linear_{percent}", linear, (3, 4))


class _Then(nn.Module):
    """A function of a layer's result."""

    def __init__(self, make: Callable[[], nn.Module], function: Callable[..., object]) -> None:
        super().__init__()
        self.layer = make()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(self.layer(x))


class _Wide(nn.Module):
    """A module in int16 (QUANTIZATION)."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.int16 = make()

    def forward(self, x: torch.Tensor) -> object:
        return self.int16(x)


QUANTIZATION = {"default": "int8", "*.int16": "int16"}  # BUILD.bazel has it too

CLASSES = (
    add_of_two_scales,
    bias_by_isa,
    padding_of_transposed_convolution,
    null_scratch,
    dtype_at_the_border,
    groups_without_bias,
    tables_of_small_range,
    divisors_of_ceil_mode,
    slices_in_concatenations,
    unsaturated_shifts,
)


def cases() -> Iterator[Case]:
    for make in CLASSES:
        yield from make()


_factory, calibration, test_inputs = as_model(cases)


def factory() -> Bundle:
    return with_large_biases(_factory())


def with_large_biases(bundle: Bundle) -> Bundle:
    """Give all layers with a bias whole numbers from -8 to 8, in place."""
    for layer in bundle.modules():
        bias = getattr(layer, "bias", None)
        if isinstance(bias, torch.Tensor):
            with torch.no_grad():
                bias.copy_(torch.arange(len(bias)) % 17 - 8.0)
    return bundle
