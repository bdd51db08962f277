# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.dialect.graph import drop_dead_code
from aot.passes.aten.channels.fold_channel_order import fold_channel_order
from aot.testing.fixtures import check_aten_pass, op_counts

ORDERS = {"aten.flip", "aten.index", "aten.index_select"}
BLUE, TURNED = torch.tensor([2, -2, 0]), torch.tensor([1, 2, 0])
MEANS = torch.tensor([0.5, 0.4, 0.3]).reshape(3, 1, 1)
LAST_MEANS = torch.tensor([0.5, 0.4, 0.3])


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(5, 4)
        self.depthwise = nn.Conv2d(3, 6, 3, groups=3)
        self.line, self.volume = nn.Conv1d(3, 2, 2), nn.Conv3d(3, 2, 1)


Function = Callable[..., torch.Tensor]
FOLDED: dict[str, Function] = {
    "flip": lambda n, x: n.conv(x.flip(1)),
    "index": lambda n, x: n.conv(x[:, BLUE]),
    "index_select": lambda n, x: n.conv(x.index_select(-3, TURNED)),
    "then normalised": lambda n, x: n.conv((x.flip(1) * 2.0 - MEANS) / MEANS),
    "of what has channels last": lambda n, x: n.conv(
        (x.permute(0, 2, 3, 1)[..., BLUE] + LAST_MEANS).permute(0, 3, 1, 2)
    ),
    "twice": lambda n, x: n.conv(x.flip(1)[:, TURNED]),
    "one dimension": lambda n, x: n.line(x.flatten(2).flip(1)),
    "three dimensions": lambda n, x: n.volume(x.unsqueeze(2).flip(1)),
    "a linear layer": lambda n, x: n.linear(x.flip(3)),
    "of a layer's result": lambda n, x: n.conv(n.conv(x)[:, :3].flip(1)),
}
KEPT: dict[str, Function] = {
    "rows": lambda n, x: n.conv(x.flip(2)),
    "channels and rows": lambda n, x: n.conv(x.flip(1, 2)),
    "not all": lambda n, x: n.conv(x[:, [0, 0, 1]]),
    "groups": lambda n, x: n.depthwise(x.flip(1)),
    "another reader": lambda n, x: n.conv(y := x.flip(1)) + y.sum(),
    "transposed": lambda n, x: F.conv_transpose2d(x.flip(1), n.conv.weight.transpose(0, 1)),
    "channels with others": lambda n, x: n.conv(x.flip(1) + x),
    "behind a clamp": lambda n, x: n.conv(F.relu(x.flip(1))),
    "another dimension becomes channels": lambda n, x: n.linear(x.flip(1)),
}


def image() -> torch.Tensor:
    return torch.randn(1, 3, 6, 5, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", FOLDED)
def test_fold_channel_order(name: str) -> None:
    changes, graph = check_aten_pass(
        fold_channel_order, FOLDED[name], Layers(), inputs=[image()], atol=1e-5
    )
    drop_dead_code(graph.graph)
    assert changes > 0
    assert not ORDERS & set(op_counts(graph))


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    changes, _ = check_aten_pass(fold_channel_order, KEPT[name], Layers(), inputs=[image()])
    assert changes == 0
