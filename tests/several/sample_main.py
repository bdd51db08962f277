# SPDX-License-Identifier: Apache-2.0
"""Write a model using about half of the micro:bit's RAM, or a second one for its output.

sample_main sample.pte head.pte
"""

from pathlib import Path

import torch
from absl import app

from aot.plan.testing import Network, export_pte


class _Layer(torch.nn.Module):
    """Layer from int8 [1, 10] to int8 [1, outputs]."""

    bias: torch.Tensor

    def __init__(self, outputs: int) -> None:
        super().__init__()
        random = torch.Generator().manual_seed(outputs)
        weight = torch.randint(-127, 128, (outputs, 10), generator=random)
        self.register_buffer("weight", weight.to(torch.int8))
        self.register_buffer("bias", torch.zeros(outputs, dtype=torch.int32))
        self.register_buffer("multiplier", torch.full((outputs,), 2**30, dtype=torch.int32))
        self.register_buffer("shift", torch.full((outputs,), -8, dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        factors = (self.weight, self.bias, self.multiplier, self.shift)
        result: torch.Tensor = torch.ops.pl.linear(x, *factors, -3, 3, -128, 127)
        return result


class _Head(torch.nn.Module):
    """Head from int8 [1, 10] to int8 [1, 4], with a step keeping its input for later."""

    def __init__(self) -> None:
        super().__init__()
        self.same, self.last = _Layer(10), _Layer(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.same(x)
        sums = torch.ops.pl.add(x, y, -3, 2**30, 0, -3, 2**30, 0, 20, 3, 2**30, -19, -128, 127)
        result: torch.Tensor = self.last(sums)
        return result


def main(argv: list[str]) -> None:
    network = Network(size=16, channels=12)
    sample = export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))
    Path(argv[1]).write_bytes(sample)
    head = export_pte(_Head(), [torch.zeros(1, 10, dtype=torch.int8)])
    Path(argv[2]).write_bytes(head)


if __name__ == "__main__":
    app.run(main)
