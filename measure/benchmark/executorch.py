# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own flow to a program for Cortex-M, for comparison."""

import warnings
from collections.abc import Callable, Iterator

import torch
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
from executorch.exir import EdgeCompileConfig, ExecutorchProgramManager, to_edge
from torch import nn

from aot.upstream.torchao import convert_pt2e, prepare_pt2e

Samples = Callable[[], Iterator[tuple[torch.Tensor, ...]]]
"""Calibration data."""


def for_cortex_m(model: nn.Module, samples: Samples) -> ExecutorchProgramManager:
    """Return a program from ExecuTorch's backend for Cortex-M, for an M55: export, quantization,
    passes and memory planning. Inputs and outputs are float32, as there.
    """
    example = next(samples())
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
        return edge.to_executorch()
