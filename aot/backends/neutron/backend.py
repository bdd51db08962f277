# SPDX-License-Identifier: Apache-2.0
"""eIQ Neutron as a backend, and a target for each part that has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from torch.fx import GraphModule, Node

from aot.backends.backend import Backend, CannotRun
from aot.backends.cortex_m import CORTEX_M
from aot.backends.neutron import converter
from aot.backends.neutron.converted import Leftover, program_of
from aot.backends.neutron.forms import formed
from aot.backends.neutron.limits import LIMITS, MOVES
from aot.backends.npus import AUTO, NEUTRONS, REQUIRED, Neutron
from aot.backends.target import Target
from aot.backends.tflite.exporting import refusal, to_tflite
from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload
from aot.dialect.graph import arguments, border_nodes, calls, dialect_op
from npu.neutron.payload import ALIGNMENT, compose, parse

Converter = Callable[[bytes, Neutron], bytes]
"""Makes of a .tflite file of a region, for a part, one with the NPU's program in it."""

_WHOLE = Traits(whole_range=True)
_TRAITS = {
    "bmm": Traits(zero_point_0=True),
    "lut": _WHOLE,
    "mean": Traits(shares_quantization=True),
    "mean_pool2d": Traits(shares_quantization=True),
    "softmax": _WHOLE,
}


def neutron(
    part: str | Neutron, presence: str = REQUIRED, convert: Converter | None = None
) -> Backend:
    """Return the backend of a part.

    Args:
      part: a key of NEUTRONS, such as "imxrt700", or a part of your own.
      presence: the behaviour without NXP's converter. Lowering fails (REQUIRED), or
        everything is left to the next engine, with a note in the report (AUTO).
      convert: a replacement of NXP's converter.
    """
    chosen = NEUTRONS[part] if isinstance(part, str) else part
    return Backend(
        "neutron",
        "NeutronBackend",
        lambda region: _compile(region, chosen, convert or converter.convert),
        adopt=_adopt,
        reject=_reject,
        not_worth=_not_worth,
        traits=_TRAITS,
        absent=converter.absent if convert is None else lambda: "",
        optional=presence == AUTO,
    )


def neutron_target(name: str, presence: str = REQUIRED) -> Target:
    """Return the target of a part, a key of NEUTRONS: its NPU, and its Cortex-M33 for the rest."""
    return Target(name, (neutron(name, presence), CORTEX_M))


def _reject(node: Node) -> str:
    op = dialect_op(node)
    assert op is not None  # partition asks of nothing else
    if op.name not in LIMITS:
        return f"{op.name} is none of the NPU's ops"
    return LIMITS[op.name](node, arguments(node)) or refusal(node)


def _not_worth(nodes: Sequence[Node]) -> str:
    if all(any(calls(node, name) for name in MOVES) for node in nodes):
        return "a region that only moves bytes is not worth the way"
    return ""


def _adopt(region: GraphModule) -> None:
    """Give pointwise functions TFLite's own tables; the NPU's program has these."""
    for name, constant in list(region.named_buffers(recurse=False)):
        region.register_buffer(name, constant.clone())  # others may read it too
    to_tflite(region)


def _compile(region: GraphModule, part: Neutron, convert: Converter) -> DelegatePayload:
    names = [node.name for node in region.graph.nodes if dialect_op(node)]
    parts = formed(region)
    tflite = to_tflite(region)
    try:
        program = program_of(tflite, convert(tflite, part), names, parts)
    except Leftover as left:
        raise CannotRun(left.node, str(left)) from left
    data = compose(program, len(border_nodes(region)[0]))
    sizes = parse(data).sizes
    report = {
        "tflite_bytes": len(tflite),
        "microcode_bytes": len(program.microcode),
        "weights_bytes": len(program.weights),
        "kernels_bytes": len(program.kernels),
        "memory": asdict(sizes),
    }
    return DelegatePayload(data, part.name, sizes.total, ALIGNMENT, report=report)
