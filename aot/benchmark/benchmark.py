# SPDX-License-Identifier: Apache-2.0
"""What lowering takes, by model and phase, and how that grows; beside ExecuTorch's own flow.

    bazel run //aot:benchmark               prints two tables
    bazel run //aot:benchmark -- --update   keeps them as aot/benchmark/results.txt

CPU seconds of one process, after imports and a first model that is not counted. ExecuTorch's flow
is that of its backend for Cortex-M: export, quantization with the same calibration data, passes,
the .pte; without the comparisons and the report that Pilotlight's lowering makes ("assess").
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import torch
from absl import app, flags, logging
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
from executorch.exir import EdgeCompileConfig, to_edge
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import aot.lower
from aot.benchmark.timing import Phases, Seconds, exponent, phases_table
from tools.text.table import table

_UPDATE = flags.DEFINE_bool("update", False, "Write the results into the source tree.")

MODELS = ("deep_autoencoder", "ds_cnn", "mobilenet_v1", "resnet8", "zoo.mobilenet_v2")

PHASES = {
    "export": ("export_aten",),
    "quantize": ("prepare_pt2e", "convert_pt2e", "merge_dequantizes", "fold_qdq"),
    "calibrate": ("calibrate",),
    "rewrite": ("set_border", "verify", "partition"),
    "write": ("write_pte",),
    "assess": ("assess", "make_report"),
}
"""Functions of aot/lower.py."""

BLOCKS = (8, 16, 32, 64)
"""Of the chains whose seconds say how lowering grows."""

Samples = Callable[[], Iterator[tuple[torch.Tensor, ...]]]


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
        self.eval()


def _chain_samples() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    yield from ((torch.rand(1, 8, 8, 8, generator=generator),) for _ in range(4))


def ours(model: nn.Module, samples: Samples) -> Seconds:
    """Of lowering as a pte_model does it."""
    phases = Phases()
    with phases.of_functions(aot.lower, PHASES):
        aot.lower.lower(
            model,
            next(samples()),
            calibration=samples(),
            io_layout="auto",
            min_sqnr=float("-inf"),
            min_agreement=0,
        )
    return phases.seconds


def executorchs(model: nn.Module, samples: Samples) -> float:
    """Of ExecuTorch's flow."""
    example = next(samples())
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model, example).module(check_guards=False)
        prepared = prepare_pt2e(exported, CortexMQuantizer())
        for sample in samples():
            prepared(*sample)
        program = torch.export.export(convert_pt2e(prepared), example)
        config = EdgeCompileConfig(
            preserve_ops=[torch.ops.aten.linear.default],
            _check_ir_validity=False,
            _core_aten_ops_exception_list=[torch.ops.aten.max_pool2d.default],
        )
        edge = to_edge(program, compile_config=config)
        passes = CortexMPassManager(
            edge.exported_program(),
            CortexMPassManager.pass_list,
            target_config=CortexMTargetConfig(cpu=CortexM.M55),
        )
        edge._edge_programs["forward"] = passes.transform()
        _ = edge.to_executorch().buffer
    return time.process_time() - start


def results() -> str:
    ours(Chain(2), _chain_samples)
    executorchs(Chain(2), _chain_samples)
    measured: dict[str, Seconds] = {}
    peer: dict[str, float] = {}
    for name in MODELS:
        module = import_module(f"aot.models.{name}{'' if '.' in name else '.model'}")
        measured[name] = ours(module.factory(), module.calibration)
        peer[name] = executorchs(module.factory(), module.calibration)
    rows = [["blocks", "CPU seconds", "ExecuTorch"]]
    chains = [(ours(Chain(n), _chain_samples)["total"], n) for n in BLOCKS]
    peers = [executorchs(Chain(n), _chain_samples) for n in BLOCKS]
    rows += [
        [str(n), f"{seconds:.2f}", f"{other:.2f}"]
        for (seconds, n), other in zip(chains, peers, strict=True)
    ]
    growth = [exponent(BLOCKS, [seconds for seconds, _ in chains]), exponent(BLOCKS, peers)]
    rows.append(["exponent", *(f"{e:.2f}" for e in growth)])
    return f"{phases_table(measured, peer)}\n\n{table(rows, 'lrr')}\n"


def main(argv: list[str]) -> None:
    del argv
    logging.set_verbosity(logging.WARNING)
    text = results()
    print(text)
    if _UPDATE.value:
        folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "aot" / "benchmark"
        (folder / "results.txt").write_text(text)


if __name__ == "__main__":
    app.run(main)
