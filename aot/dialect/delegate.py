# SPDX-License-Identifier: Apache-2.0
"""A region of a dialect graph running on another engine than the CPU.

The graph has it as a `call_module` of a `Delegate`, a call with several results (see results.py).
The call's `edge` is empty; each of its results has its own `val`, `edge` and `origin`. The delegate
keeps the region's own dialect graph. The reference computes it, and the verifier checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node


@dataclass(frozen=True)
class DelegatePayload:
    """A backend's program for a region.

    Attributes:
      data: input of the engine: its command stream and weights, in the backend's own
        format.
      configuration: the engine's name in boards, e.g. "ethos-u55-128"; "" for any engine.
      scratch_bytes: memory that the running engine needs, without inputs and outputs.
      alignment: in bytes, a power of two: of data, scratch memory, inputs and outputs.
      compile_specs: keys and values for the backend in ExecuTorch's own runtime.
      report: the backend's entries for the report, as JSON, e.g. {"cycles": 1200}. Its
        "layers", if any, are a list of objects. Their "op" is the name of a node in the
        region; the report replaces it by the node's id.
      cache_bytes: the engine's own memory that the payload was made for, in addition to
        the above.
    """

    data: bytes
    configuration: str = ""
    scratch_bytes: int = 0
    alignment: int = 16
    compile_specs: Mapping[str, bytes] = field(default_factory=dict)
    report: Mapping[str, object] = field(default_factory=dict)
    cache_bytes: int = 0


class Delegate(torch.nn.Module):
    """A region, and the backend's program for it.

    Attributes:
      region: the dialect graph; its inputs are activations only, its output is a tuple.
      backend_id: the backend's name in ExecuTorch's runtime, e.g. "EthosUBackend".
      payload: see Payload.
    """

    def __init__(self, region: GraphModule, backend_id: str, payload: DelegatePayload) -> None:
        super().__init__()
        self.region = region
        self.backend_id = backend_id
        self.payload = payload

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self.region(*inputs))


def delegate_of(module: GraphModule, node: object) -> Delegate | None:
    """Return the delegate that a node calls, or None."""
    if not isinstance(node, Node) or node.op != "call_module":
        return None
    called = module.get_submodule(str(node.target))
    return called if isinstance(called, Delegate) else None
