# SPDX-License-Identifier: Apache-2.0
"""The Cortex-M emitter: dialect ops stay as kernel calls (`pl::<op>.out`) of an ExecuTorch program.

The program is ExecuTorch's own format, from its own emitter. Beside `forward` it has constant
methods that say what the inputs and outputs are: `pl_format_version`,
`pl_{input,output}_{scales,zero_points,layouts}`. Behind it, where ExecuTorch's readers do not look,
is the CRC-32 of all that comes before: four bytes, little endian.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Sequence

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from torch.fx import GraphModule, Node

from aot.dialect.graph import edge_of
from aot.passes.border import is_channels_last

FORMAT_VERSION = 1
LAYOUT_ROW_MAJOR, LAYOUT_NCHW, LAYOUT_NHWC = 0, 1, 2


def layout_of(value: torch.Tensor, nhwc_border: bool) -> int:
    """The layout code of a border tensor: how its bytes lie."""
    if value.dim() != 4:
        return LAYOUT_ROW_MAJOR
    return LAYOUT_NHWC if nhwc_border or is_channels_last(value) else LAYOUT_NCHW


def _border_methods(kind: str, nodes: Sequence[Node], nhwc_border: bool) -> dict[str, object]:
    edges = [edge_of(n) for n in nodes]
    return {
        f"pl_{kind}_scales": [e.scale for e in edges],
        f"pl_{kind}_zero_points": [e.zero_point for e in edges],
        f"pl_{kind}_layouts": [layout_of(n.meta["val"], nhwc_border) for n in nodes],
    }


def border_nodes(module: GraphModule) -> tuple[list[Node], list[Node]]:
    """Input placeholders and the nodes returned, in order, duplicates kept."""
    inputs = [n for n in module.graph.nodes if n.op == "placeholder"]
    output = next(n for n in module.graph.nodes if n.op == "output")
    returned: list[Node] = []
    torch.fx.node.map_arg(output.args[0], returned.append)
    return inputs, returned


def emit_pte(module: GraphModule, nhwc_border: bool) -> bytes:
    """Serialises a dialect graph; the same graph gives the same bytes."""
    inputs, outputs = border_nodes(module)
    methods: dict[str, object] = {
        "pl_format_version": FORMAT_VERSION,
        **_border_methods("input", inputs, nhwc_border),
        **_border_methods("output", outputs, nhwc_border),
    }
    example = tuple(_example(n.meta["val"]) for n in inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, example)
        edge = to_edge(
            program,
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
            constant_methods=methods,
        )
        executorch = edge.to_executorch(ExecutorchBackendConfig())
    data = bytes(executorch.buffer)
    return data + zlib.crc32(data).to_bytes(4, "little")


def _example(value: torch.Tensor) -> torch.Tensor:
    """A tensor of a fake one's shape, dtype and memory format."""
    layout = torch.channels_last if is_channels_last(value) else torch.contiguous_format
    return torch.zeros(value.shape, dtype=value.dtype).contiguous(memory_format=layout)
