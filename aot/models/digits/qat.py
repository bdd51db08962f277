# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training of a digits network with poor int8 results: the example of
docs/qat.md.

The trained network's first layer has channels scaled from 1/30 to 30; the second layer's weights
are scaled inversely. The function is the same, but one scale cannot serve such channels.

    bazel run //aot/models/digits:qat
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

with imports_that_stay():
    import torch
    from absl import app
    from torch import nn
    from torch.nn import functional

    from aot.lower import lower
    from aot.models.digits import model as digits
    from aot.models.metrics import accuracy
    from aot.options import Measure, Quantize
    from aot.quantizer.training import Train
    from tools.text.table import table

EPOCHS = 6
BATCH_SIZE = 64


def factory() -> nn.Module:
    """Return the network, in eval mode."""
    module = digits.factory()
    assert isinstance(module, digits.Digits)
    first, second = module.features[1], module.features[4]
    assert isinstance(first, nn.BatchNorm2d) and isinstance(second, nn.Conv2d)
    factors = 30.0 ** torch.linspace(-1.0, 1.0, 16)
    with torch.no_grad():
        first.weight.mul_(factors)
        first.bias.mul_(factors)
        second.weight.div_(factors.reshape(1, -1, 1, 1))
    return module


def train(module: nn.Module) -> None:
    """Train the module in a usual loop."""
    images, _, labels, _ = digits.data()
    optimizer = torch.optim.Adam(module.parameters(), lr=2e-3)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH_SIZE):
            optimizer.zero_grad()
            functional.cross_entropy(module(images[batch]), labels[batch]).backward()
            optimizer.step()


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    module, samples = factory(), list(digits.calibration())
    rows = [("", "accuracy int8")]
    ways: tuple[tuple[str, bool, Train | None], ...] = (
        ("calibrated", False, None),
        ("equalized", True, None),
        ("trained", False, train),
    )
    for name, equalize, loop in ways:
        lowered = lower(
            module,
            samples[0],
            calibration=samples,
            quantize=Quantize(equalize=equalize, train=loop),
            measure=Measure(min_sqnr=float("-inf"), min_agreement=0.0, per_op=False),
        )
        measured = accuracy(module, lowered, *digits.evaluation())
        rows.append((name, f"{measured.int8:.2%}"))
    rows.insert(1, ("float", f"{measured.float32:.2%}"))
    print(table(rows, "lr"))


if __name__ == "__main__":
    run_main(main)
