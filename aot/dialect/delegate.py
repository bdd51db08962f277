# SPDX-License-Identifier: Apache-2.0
"""A region of a dialect graph that an engine other than the CPU runs.

In the graph it is a `call_module` of a `Delegate`, a call with several results (see results.py).
The call's `edge` is empty; each of its results has `val`, `edge` and `origin` of its own. The
delegate keeps the region's own dialect graph: that is what the reference computes, and what the
verifier looks into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node


@dataclass(frozen=True)
class Payload:
    """What a backend made of a region.

    Attributes:
      data: what the engine reads: its command stream and weights, in the backend's own format.
      configuration: the engine that it is for, as boards say it, e.g. "ethos-u55-128"; "" where any
        will do.
      scratch_bytes: memory that the engine needs beside inputs and outputs while it runs.
      alignment: in bytes, a power of two: of data, scratch memory, inputs and outputs.
      compile_specs: keys and values for the backend in ExecuTorch's own runtime.
      report: what the backend wants said of the region, as JSON has it, e.g. {"cycles": 1200}. Its
        "layers", if it has any, are a list of objects whose "op" is the name of one of the region's
        nodes; the report has its id there.
      cache_bytes: memory of the engine's own, beside all that, which the payload was made for.
    """

    data: bytes
    configuration: str = ""
    scratch_bytes: int = 0
    alignment: int = 16
    compile_specs: Mapping[str, bytes] = field(default_factory=dict)
    report: Mapping[str, object] = field(default_factory=dict)
    cache_bytes: int = 0


class Delegate(torch.nn.Module):
    """A region, and what a backend made of it.

    Attributes:
      region: the dialect graph; its inputs are activations only, its output is a tuple.
      backend_id: as ExecuTorch's runtime knows the backend, e.g. "EthosUBackend".
      payload: see Payload.
    """

    def __init__(self, region: GraphModule, backend_id: str, payload: Payload) -> None:
        super().__init__()
        self.region = region
        self.backend_id = backend_id
        self.payload = payload

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self.region(*inputs))


def delegate_of(module: GraphModule, node: object) -> Delegate | None:
    """The delegate that a node calls, or None."""
    if not isinstance(node, Node) or node.op != "call_module":
        return None
    called = module.get_submodule(str(node.target))
    return called if isinstance(called, Delegate) else None
