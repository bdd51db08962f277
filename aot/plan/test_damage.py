# SPDX-License-Identifier: Apache-2.0
"""Random damage of .pte files: each gives a plan or one clear message, never a traceback.

The checksum is made right again, as it would hide all other checks.
"""

import functools
import random
from typing import Any

import pytest
import torch

from aot.dialect.delegate import Delegate, DelegatePayload
from aot.partition.cut import cut, extract
from aot.plan.plan import DoesNotFitError, make_plan
from aot.plan.pte import read_program
from aot.plan.testing import Network, export_pte, sample_board
from aot.pte.conventions import PteError, sealed
from aot.pte.writer import write_pte
from aot.testing.fixtures import folded
from boards.board import Engine
from kernels.common.kernel import KernelError

OPS: Any = torch.ops.pl
ONE = 2**30  # a multiplier


class ManyOps(torch.nn.Module):
    """Ops in addition to Network's, with float fallbacks."""

    table: torch.Tensor
    exponentials: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        exponentials = torch.full((256,), 100, dtype=torch.int32)
        exponentials[0] = 1024
        self.register_buffer("table", torch.arange(-128, 128).to(torch.int8))
        self.register_buffer("exponentials", exponentials)
        self.layer_norm = torch.nn.LayerNorm(8)
        self.group_norm = torch.nn.GroupNorm(2, 4)

    def forward(self, x: torch.Tensor, f: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """x int8 [1, 8, 8, 8], f float32 [1, 4, 4, 8]."""
        a = OPS.pad(OPS.slice(x, 2, 0, 8, 2), [0, 0, 1, 1, 0, 1, 0, 0], 3)
        b = OPS.transpose(a, [0, 3, 1, 2])
        c = OPS.avg_pool2d(x, [2, 2], [2, 2], [0, 0, 0, 0], [4, 4], True, 0, 3)
        d = OPS.max_pool2d(x, [3, 3], [2, 2], [1, 1, 1, 1], [1, 1], [4, 4])
        e = OPS.mul(c, d, 1, 2, 3, ONE, -5, -128, 127)
        g = OPS.adaptive_avg_pool2d(x, [4, 4])
        h = OPS.lut(OPS.add(e, g, 0, ONE, 0, 0, ONE, 0, 20, 0, ONE, -18, -128, 127), self.table)
        i = OPS.log_softmax(h, self.exponentials, 3, 10, ONE, -10, ONE, -10, 0)
        return (
            OPS.cat([b, b], 1),
            OPS.mean(h, [1, 2], False, 0, 0, ONE, -4),
            OPS.softmax(OPS.adaptive_max_pool2d(x, [4, 4]), self.exponentials, 3, 256),
            OPS.reshape(OPS.dequantize(i, 0.5, 3), [1, 128]),
            OPS.quantize(f, 0.25, 1, 8),
            torch.amax(self.group_norm(self.layer_norm(f)), dim=[1]),
            torch.minimum(torch.div(f, f), f),
            torch.sum(f, dim=[1]).pow(2.0),
        )


BOARD = sample_board(engines=[Engine("Test", "test-1", ("flash", "ram0"))])
SAMPLES = ("network", "many ops", "delegates")


def with_delegates() -> bytes:
    graph = folded(
        lambda x, y: ((z := x + y) * (x * y) + x * 0.5, torch.cat([z, x * y])),
        shapes=[(1, 4, 6), (1, 4, 6)],
    )
    nodes = [n for n in graph.graph.nodes if n.op == "call_function"]
    payloads = (DelegatePayload(b"first" * 30, "test-1", 64, 32), DelegatePayload(b"second" * 20))
    regions = zip((nodes[:2], nodes[2:3]), payloads, strict=True)
    cut(graph, [(r, Delegate(extract(graph, r), "Test", payload)) for r, payload in regions])
    return write_pte(graph)


@functools.cache
def sample(name: str) -> bytes:
    if name == "delegates":
        return with_delegates()
    if name == "network":
        network = Network()
        return export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))
    x = torch.zeros(1, 8, 8, 8, dtype=torch.int8)
    return export_pte(ManyOps(), [x, torch.ones(1, 4, 4, 8)])


@pytest.mark.parametrize("name", SAMPLES)
def test_undamaged(name: str) -> None:
    assert len(make_plan(read_program(sample(name)), BOARD).sharing.steps) >= 5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SAMPLES)
def test_gives_a_plan_or_a_message(name: str, seed: int) -> None:
    """Flipped bits, overwritten bytes, cut ends; most of them in the program, not in weights."""
    rng = random.Random(seed)
    original = sample(name)[:-4]
    program_size = int.from_bytes(original[16:24], "little")
    plans = messages = 0
    for _ in range(50):
        data = bytearray(original)
        end = rng.choice([64, program_size, program_size, program_size, len(data)])
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.randrange(end)
            data[at] = rng.choice([0, 1, 2, 5, 127, 128, 255, data[at] ^ (1 << rng.randrange(8))])
        if rng.random() < 0.1:
            del data[rng.randrange(len(data)) :]
        try:
            make_plan(read_program(sealed(bytes(data))), BOARD)
            plans += 1
        except (PteError, KernelError, DoesNotFitError) as error:
            assert str(error)
            assert "\n" not in str(error)
            messages += 1
    assert plans > 0
    assert messages > 0
