# SPDX-License-Identifier: Apache-2.0
"""`run_model` on a delegate that takes a mask."""

import torch
from torch import nn

from aot.lower import lower
from aot.plan.pte import read_program
from tools.npu.run_model import run_program


class _Chosen(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before = nn.Conv2d(16, 16, 3, padding=1)
        self.after = nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.after(torch.where(mask, self.before(x), x)))


def test_masks_are_inputs_of_delegates() -> None:
    generator = torch.Generator().manual_seed(0)
    numbers = [torch.rand(2, 1, 16, 16, 16, generator=generator) for _ in range(4)]
    samples = [(x, mask > 0.5) for x, mask in numbers]
    lowered = lower(_Chosen().eval(), samples[0], calibration=samples, target="ethos-u55-128")
    given = lowered.quantize_inputs(samples[1])
    (output,), rows = run_program(read_program(lowered.pte), [x.numpy() for x in given])
    assert len(rows) == 1, "the mask is read on the NPU"
    (expected,) = lowered.reference(given)
    assert torch.equal(torch.from_numpy(output), expected)
