# SPDX-License-Identifier: Apache-2.0
"""Lowers a model in the usual flow of ExecuTorch with its Arm backend: two delegates, and a float
product between them, left to the CPU. Writes the .pte, and vectors by TOSA's reference model.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import tosa_reference_model
from absl import app, flags
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import LoweredBackendModule
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

_PTE = flags.DEFINE_string("pte", None, "The .pte to write.", required=True)
_VECTORS = flags.DEFINE_string("vectors", None, "The .npz to write.", required=True)
_TOSA = flags.DEFINE_list("tosa", [], "Where to write TOSA of each delegate, in their order.")

_SHAPE = (1, 3, 8, 8)
_RUNS = 4


class Square(nn.Module):
    """A square between views; views are no instructions of the program."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.flatten(2)
        return (rows * rows).view(x.shape)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.square = Square()
        self.second = nn.Conv2d(8, 4, 3, stride=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.second(self.square(torch.relu(self.first(x))))
        return y


def _inputs(seed: int) -> tuple[torch.Tensor]:
    return (torch.randn(_SHAPE, generator=torch.Generator().manual_seed(seed)),)


def _quantized(spec: ArmCompileSpec) -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    quantizer = TOSAQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config())
    quantizer.set_module_type(Square, None)
    exported = torch.export.export(Model().eval(), _inputs(0)).module(check_guards=False)
    prepared = prepare_pt2e(exported, quantizer)
    for seed in range(_RUNS):
        prepared(*_inputs(seed))
    return torch.export.export(convert_pt2e(prepared), _inputs(0))


def _lowered(spec: ArmCompileSpec, partitioner: Any) -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        return to_edge_transform_and_lower(_quantized(spec), partitioner=[partitioner(spec)])


def _by_tosa(module: torch.fx.GraphModule, x: torch.Tensor) -> npt.NDArray[np.float32]:
    """Return the output of a lowered graph, with delegates by TOSA's reference model."""
    values: dict[torch.fx.Node, Any] = {}
    for node in module.graph.nodes:
        if node.op == "placeholder":
            values[node] = x
        elif node.op == "get_attr":
            values[node] = getattr(module, node.target)
        elif node.op == "call_function":
            args = torch.fx.node.map_arg(node.args, values.__getitem__)
            if isinstance(args[0], LoweredBackendModule):
                tosa = args[0].processed_bytes
                outputs, status = tosa_reference_model.run(tosa, [v.numpy() for v in args[1:]])
                assert status == tosa_reference_model.GraphStatus.TOSA_VALID
                values[node] = [torch.from_numpy(np.asarray(y)) for y in outputs]
            else:
                values[node] = node.target(*args, **node.kwargs)
    results: Any = module.graph.output_node().args[0]
    y: npt.NDArray[np.float32] = values[results[0]].numpy()
    return y


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    program = _lowered(EthosUCompileSpec("ethos-u55-128"), EthosUPartitioner)
    Path(_PTE.value).write_bytes(program.to_executorch().buffer)
    tosa = _lowered(TosaCompileSpec("TOSA-1.0+INT+int16+int4+u55"), TOSAPartitioner)
    module = tosa.exported_program().graph_module
    parts = [m for m in module.modules() if isinstance(m, LoweredBackendModule)]
    for path, part in zip(_TOSA.value, parts, strict=bool(_TOSA.value)):
        Path(path).write_bytes(part.processed_bytes)
    inputs = [_inputs(10 + seed)[0] for seed in range(_RUNS)]
    outputs = [_by_tosa(module, x) for x in inputs]
    np.savez(_VECTORS.value, input_0=torch.stack(inputs).numpy(), output_0=np.stack(outputs))


if __name__ == "__main__":
    app.run(main)
