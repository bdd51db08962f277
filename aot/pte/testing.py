# SPDX-License-Identifier: Apache-2.0
"""Writes a .pte through torch.export and ExecuTorch's own emitter, for comparison."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch.fx import GraphModule

from aot.dialect.graph import border_nodes, initial_state, is_channels_last
from aot.dialect.io_layout import NOT_MOVED, IoLayout
from aot.pte.conventions import sealed
from aot.pte.writer import methods_of


def export_pte(
    module: torch.nn.Module, inputs: Sequence[torch.Tensor], methods: Mapping[str, Any]
) -> bytes:
    """Return the .pte of a module whose forward calls ops of the dialect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, tuple(inputs))
        config = EdgeCompileConfig(_check_ir_validity=False)
        edge = to_edge(program, compile_config=config, constant_methods=dict(methods))
        backend = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass([""])])
        return sealed(bytes(edge.to_executorch(backend).buffer))


class _WithState(torch.nn.Module):
    """Graph module that keeps its state in buffers."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__()
        self.network = graph
        self.state = torch.nn.Module()
        for index, value in enumerate(initial_state(graph)):
            self.state.register_buffer(str(index), value.clone())

    def forward(self, *inputs: torch.Tensor) -> object:
        state = list(self.state.buffers())
        results = self.network(*inputs, *state)
        for old, new in zip(state, results[-len(state) :], strict=True):
            old.copy_(new)
        return results[: -len(state)]


def export_graph(module: GraphModule, moved: IoLayout = NOT_MOVED) -> bytes:
    """Return the same bytes as `write_pte`."""
    inputs = [_example(n.meta["val"]) for n in border_nodes(module)[0]]
    methods = methods_of(module, moved)
    return export_pte(_WithState(module) if initial_state(module) else module, inputs, methods)


def _example(value: torch.Tensor) -> torch.Tensor:
    """Return a real tensor with the shape, dtype and memory format of a fake one."""
    layout = torch.channels_last if is_channels_last(value) else torch.contiguous_format
    return torch.zeros(value.shape, dtype=value.dtype).contiguous(memory_format=layout)
