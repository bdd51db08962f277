# SPDX-License-Identifier: Apache-2.0
"""`verify` on payloads that have lost outputs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from aot.backends.ethos_u.block import INT8
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.ethos_u.vela import compile_tosa
from aot.backends.npus import NPUS
from tools.npu.verify import differences

_NPU = NPUS["ethos-u55-128"]
_OUTPUTS = 3


def _graph(outputs: Sequence[int]) -> tuple[bytes, list[str]]:
    """Return a graph with some of three results, and all their names."""
    graph = TosaGraph(_NPU)
    x = graph.input(torch.empty((1, 4, 4, 8), dtype=torch.int8, device="meta"))
    results = [graph.rescale(x, 1 << 30, 30 + i, INT8) for i in range(1, 1 + _OUTPUTS)]
    for i in outputs:
        graph.output(results[i])
    return graph.serialize(), [y.name for y in results]


@pytest.mark.parametrize("kept", [(0,), (1,), (0, 2), (1, 2)])
def test_lost_outputs_are_named(kept: tuple[int, ...]) -> None:
    tosa, names = _graph(range(_OUTPUTS))
    payload = compile_tosa(_graph(kept)[0], _NPU).payload
    lost = [names[i] for i in range(_OUTPUTS) if i not in kept]
    assert list(differences(payload, tosa)) == [
        f"output {name} is missing from the payload" for name in lost
    ]


def test_a_payload_with_more_outputs_is_of_another_graph() -> None:
    payload = compile_tosa(_graph(range(_OUTPUTS))[0], _NPU).payload
    with pytest.raises(ValueError, match="they are of different graphs"):
        list(differences(payload, _graph((0,))[0]))
