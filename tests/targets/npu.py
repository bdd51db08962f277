# SPDX-License-Identifier: Apache-2.0
"""User-defined target in one file: an engine for convolutions. Its program is the region's own
.pte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch.fx import GraphModule, Node

from aot.backends.backend import Backend
from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload
from aot.dialect.graph import arguments, dialect_op
from aot.pte.writer import write_pte

_LARGEST_KERNEL = 3


def _reject(node: Node) -> str:
    op = dialect_op(node)
    if op is None or op.name not in ("conv2d", "max_pool2d"):
        return "it has convolutions and max pooling only"
    if op.name == "conv2d":
        _, height, width, _ = arguments(node)["weight"].meta["val"].shape
        if max(height, width) > _LARGEST_KERNEL:
            return f"its kernel is {height}x{width}, of at most {_LARGEST_KERNEL}x{_LARGEST_KERNEL}"
    return ""


def _not_worth(nodes: Sequence[Node]) -> str:
    layers = [n for n in nodes if "conv2d" in str(n.target)]
    return "" if layers else "a region without a convolution is not worth the way"


def _compile(region: GraphModule) -> DelegatePayload:
    data = write_pte(region)
    return DelegatePayload(data, scratch_bytes=128, alignment=32, report={"ops": len(data) // 1000})


NPU = Backend(
    "npu",
    "SampleNpu",
    _compile,
    reject=_reject,
    not_worth=_not_worth,
    traits={"conv2d": Traits(weights_per_tensor=True)},
)
TARGET = Target("sample-soc", (NPU, CORTEX_M))
IDLE = Target("idle", (replace(NPU, reject=lambda node: "it is asleep"), CORTEX_M))
