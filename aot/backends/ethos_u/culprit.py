# SPDX-License-Identifier: Apache-2.0
"""Search for the first op of a region compiled wrongly by Vela."""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule, Node

from aot.backends.ethos_u.emit import emitted
from aot.backends.ethos_u.forms import FormError, check_forms
from aot.backends.ethos_u.vela import VelaError, compile_tosa
from aot.backends.ethos_u.verify import NpuVerificationError, execute
from aot.backends.npus import Npu
from aot.dialect.graph import dialect_op, inputs_of
from aot.partition.cut import extract


def culprit(region: GraphModule, npu: Npu) -> tuple[str, str]:
    """Return the name of the first bad op of a region, and its inputs as a phrase.

    The region up to that op alone is wrong, or Vela refuses it. The whole region must be wrong or
    refused.
    """
    nodes = [n for n in region.graph.nodes if dialect_op(n) is not None]
    for count in range(1, len(nodes)):
        part = extract(region, nodes[:count])
        try:
            tosa = emitted(part, npu).tosa
            check_forms(tosa, npu)
            payload = compile_tosa(tosa, npu).payload
            execute(part, payload, npu)
        except (FormError, VelaError, NpuVerificationError):
            return nodes[count - 1].name, f"the first wrong op is {_pattern(nodes[count - 1])}"
    return nodes[-1].name, f"only the whole is wrong, up to {_pattern(nodes[-1])}"


def _pattern(node: Node) -> str:
    """Return an op with the ops before it: "linear -> lut -> linear `linear_2`"."""
    names = [str(node.target).removesuffix(".default")]
    at: Any = node
    while len(names) < 3 and (sources := [n for n in inputs_of(at) if dialect_op(n)]):
        at = sources[0]
        names.insert(0, str(at.target).removesuffix(".default"))
    return f"{' -> '.join(names)} `{node.name}`"
