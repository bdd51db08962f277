# SPDX-License-Identifier: Apache-2.0
"""Samples for tests: .pte files of modules written in ops of the dialect, and boards."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

import kernels.ops  # noqa: F401  (registers torch.ops.pl)
from aot.pte.conventions import Border, Layout, constant_methods
from boards.board import Board, Console, Engine, Memory, Pool
from kernels.common.kernel import Isa


def _flip_a_bit(data: bytes) -> bytes:
    """Flip a bit in the constants, the last part of the file."""
    at = len(data) - 100
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


BAD_PTES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda data: b"", "is not a .pte"),
    "another format": (lambda data: b"\x7fELF" * 20, "is not a .pte"),
    "truncated": (lambda data: data[:-100], "is truncated"),
    "a bit of a weight flipped": (_flip_a_bit, "its checksum is wrong"),
}
"""Damage done to a good .pte, and the reader's error message for it."""


def export_pte(
    module: torch.nn.Module,
    inputs: Sequence[torch.Tensor],
    layouts: tuple[Sequence[Layout], Sequence[Layout]] | None = None,
    **methods: Any,
) -> bytes:
    """Return the .pte of a module whose forward calls ops of the dialect.

    Args:
      module: see `Network` for a short way to write one.
      inputs: example inputs.
      layouts: of inputs and outputs; row major by default.
      **methods: constant methods that replace the right ones.
    """
    with torch.no_grad():
        results = module.eval()(*inputs)
    outputs = [results] if isinstance(results, torch.Tensor) else list(results)
    given = layouts or (["row_major"] * len(inputs), ["row_major"] * len(outputs))
    taken, returned = (
        [_border(tensor, layout) for tensor, layout in zip(tensors, side, strict=True)]
        for tensors, side in zip((inputs, outputs), given, strict=True)
    )
    # Imported late: this loads ExecuTorch's compiler, which takes seconds. Many tests only need a
    # board.
    from aot.pte import testing as pte_testing

    return pte_testing.export_pte(module, inputs, constant_methods(taken, returned) | methods)


def _border(tensor: torch.Tensor, layout: Layout) -> Border:
    quantized = tensor.dtype == torch.int8
    return Border(0.5 if quantized else 0.0, 3 if quantized else 0, layout)


class Network(torch.nn.Module):
    """A convolution block of each kind, an addition, pooling and a classifier; NHWC inside."""

    conv_bias: torch.Tensor
    linear_weight: torch.Tensor

    def __init__(self, size: int = 8, channels: int = 8, seed: int = 0) -> None:
        super().__init__()
        self.size = size
        random = torch.Generator().manual_seed(seed)

        def int8(*shape: int) -> torch.Tensor:
            return torch.randint(-127, 128, shape, generator=random).to(torch.int8)

        def bias(count: int) -> torch.Tensor:
            return torch.randint(-1000, 1000, (count,), generator=random).to(torch.int32)

        self.register_buffer("conv_weight", int8(channels, 3, 3, 1))
        self.register_buffer("conv_bias", bias(channels))
        self.register_buffer("depthwise_weight", int8(3, 3, channels))
        self.register_buffer("depthwise_bias", bias(channels))
        self.register_buffer("multiplier", torch.full((channels,), 2**30, dtype=torch.int32))
        self.register_buffer("shift", torch.full((channels,), -7, dtype=torch.int32))
        self.register_buffer("linear_weight", int8(10, channels * size * size // 4))
        self.register_buffer("linear_bias", bias(10))
        self.register_buffer("linear_multiplier", torch.full((10,), 2**30, dtype=torch.int32))
        self.register_buffer("linear_shift", torch.full((10,), -9, dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x int8 [1, 1, size, size] (NCHW) to int8 [1, 10]."""
        ops: Any = torch.ops.pl
        one, pad = [1, 1], [1, 1, 1, 1]
        x = ops.transpose(x, [0, 2, 3, 1])
        x = ops.conv2d(
            x, self.conv_weight, self.conv_bias, self.multiplier, self.shift,
            one, pad, one, 1, 3, -5, -128, 127,
        )  # fmt: skip
        y = ops.depthwise_conv2d(
            x, self.depthwise_weight, self.depthwise_bias, self.multiplier, self.shift,
            one, pad, one, -5, 2, -128, 127,
        )  # fmt: skip
        x = ops.add(x, y, -5, 2**30, 0, 2, 2**30, 0, 20, 1, 2**30, -18, -128, 127)
        x = ops.max_pool2d(x, [2, 2], [2, 2], [0, 0, 0, 0], one, [self.size // 2, self.size // 2])
        x = ops.reshape(x, [1, self.linear_weight.shape[1]])
        result: torch.Tensor = ops.linear(
            x, self.linear_weight, self.linear_bias, self.linear_multiplier, self.linear_shift,
            1, 0, -128, 127,
        )  # fmt: skip
        return result

    def example(self, seed: int = 0) -> torch.Tensor:
        """Return an input."""
        random = torch.Generator().manual_seed(seed)
        shape = (1, 1, self.size, self.size)
        return torch.randint(-128, 128, shape, generator=random).to(torch.int8)


def sample_board(
    arena: Sequence[int] = (1 << 20,),
    weights: int = 1 << 20,
    isa: Isa = "scalar",
    engines: Sequence[Engine] = (),
) -> Board:
    """Return a board with memories of these sizes."""
    pools = tuple(Pool(f"ram{i}", size) for i, size in enumerate(arena))
    memories = (
        Memory("flash", 0, weights, "flash"),
        *(Memory(pool.name, 1 << 28, pool.bytes, "ram") for pool in pools),
    )
    return Board(
        name="sample",
        description="",
        core="host",
        isa=isa,
        memories=memories,
        code="flash",
        weights="flash",
        data="ram0",
        stack=1024,
        handler_stack=256,
        variables=256,
        arena=pools,
        console=Console(),
        npu=None,
        engines=tuple(engines),
        simulator=None,
        flash=(),
    )
