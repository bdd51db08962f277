# SPDX-License-Identifier: Apache-2.0
"""Time of lowering by model and phase, and its growth, next to ExecuTorch's own flow.

    bazel run //measure/benchmark               prints two tables
    bazel run //measure/benchmark -- --update   keeps them as measure/benchmark/results.txt

The figures are CPU seconds of one process with one thread. Imports and a first model are not
counted. The fastest of three runs counts, because other load on the machine only adds time.
ExecuTorch's flow is that of its backend for Cortex-M: export, quantization with the same
calibration data, passes, the .pte. It lacks the comparisons and the report of Pilotlight's lowering
("assess").
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

with imports_that_stay():
    import torch
    from absl import flags, logging
    from torch import nn

    import aot.lower
    from aot.options import Io, Measure
    from measure.benchmark.executorch import Samples, for_cortex_m
    from measure.benchmark.timing import TOTAL, Phases, Seconds, exponent, phases_table
    from tools.text.table import table

_UPDATE = flags.DEFINE_bool("update", False, "Write the results into the source tree.")

MODELS = ("deep_autoencoder", "ds_cnn", "mobilenet_v1", "resnet8", "zoo.mobilenet_v2")

PHASES = {
    "export": ("export_aten",),
    "quantize": ("prepare_pt2e", "convert_pt2e", "merge_dequantizes", "fold_qdq"),
    "calibrate": ("calibrate",),
    "rewrite": ("set_border", "rewrite", "verify", "partition"),
    "write": ("write_pte",),
    "assess": ("assess", "make_report"),
}
"""Functions of aot/lower.py."""

BLOCKS = (8, 16, 32, 64)
"""Blocks of the chains used to measure the growth of lowering time."""

_RUNS = 3

DEEPEST = 858
"""Blocks of a chain of 2,574 nodes, lowered only here."""


class Chain(nn.Sequential):
    """Residual blocks of three nodes each."""

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(8, 8, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.relu(self.conv(x))

    def __init__(self, blocks: int) -> None:
        torch.manual_seed(blocks)
        super().__init__(*(self.Block() for _ in range(blocks)))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.div_(blocks)  # keeps sums small for any number of blocks
        self.eval()


def _chain_samples() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    yield from ((torch.rand(1, 8, 8, 8, generator=generator),) for _ in range(4))


def ours(model: nn.Module, samples: Samples) -> Seconds:
    """Return the seconds of one lowering, as in a pte_model."""
    phases = Phases()
    with phases.of_functions(aot.lower, PHASES):
        aot.lower.lower(
            model,
            next(samples()),
            calibration=samples(),
            io=Io(io_layout="auto"),
            measure=Measure(min_sqnr=float("-inf"), min_agreement=0.0),
        )
    return phases.seconds


def least_of_ours(factory: Callable[[], nn.Module], samples: Samples) -> Seconds:
    return min((ours(factory(), samples) for _ in range(_RUNS)), key=lambda run: run[TOTAL])


def executorchs(model: nn.Module, samples: Samples) -> float:
    """Return the seconds of one run of ExecuTorch's flow."""
    start = time.process_time()
    _ = for_cortex_m(model, samples).buffer
    return time.process_time() - start


def least_of_executorchs(factory: Callable[[], nn.Module], samples: Samples) -> float:
    return min(executorchs(factory(), samples) for _ in range(_RUNS))


def results() -> str:
    ours(Chain(2), _chain_samples)
    executorchs(Chain(2), _chain_samples)
    measured: dict[str, Seconds] = {}
    peer: dict[str, float] = {}
    for name in MODELS:
        module = import_module(f"aot.models.{name}{'' if '.' in name else '.model'}")
        measured[name] = least_of_ours(module.factory, module.calibration)
        peer[name] = least_of_executorchs(module.factory, module.calibration)
    rows = [["blocks", "CPU seconds", "ExecuTorch"]]
    chains = [(least_of_ours(partial(Chain, n), _chain_samples)[TOTAL], n) for n in BLOCKS]
    peers = [least_of_executorchs(partial(Chain, n), _chain_samples) for n in BLOCKS]
    rows += [
        [str(n), f"{seconds:.2f}", f"{other:.2f}"]
        for (seconds, n), other in zip(chains, peers, strict=True)
    ]
    deepest = least_of_ours(partial(Chain, DEEPEST), _chain_samples)
    rows.append([str(DEEPEST), f"{deepest[TOTAL]:.2f}", ""])
    growth = [exponent(BLOCKS, [seconds for seconds, _ in chains]), exponent(BLOCKS, peers)]
    rows.append([f"exponent, to {BLOCKS[-1]}", *(f"{e:.2f}" for e in growth)])
    return f"{phases_table(measured, peer)}\n\n{table(rows, 'lrr')}\n"


def main(argv: list[str]) -> None:
    del argv
    logging.set_verbosity(logging.WARNING)
    torch.set_num_threads(1)  # same as in builds: waiting threads cost CPU seconds
    text = results()
    print(text)
    if _UPDATE.value:
        folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "measure/benchmark"
        (folder / "results.txt").write_text(text)


if __name__ == "__main__":
    run_main(main)
