# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
from torch import nn

from aot.passes.aten.spatial.three_to_two_dimensions import three_to_two_dimensions
from aot.testing.fixtures import check_aten_pass, op_counts

# The convolution, depth of the input, channels per group in 2d, True if slices are copied.
CASES: dict[str, tuple[nn.Module, int, int, bool]] = {
    "one slice deep": (nn.Conv3d(4, 6, (1, 3, 3), padding=(0, 1, 1)), 3, 4, False),
    "every second slice": (nn.Conv3d(4, 6, (1, 3, 2), stride=(2, 1, 2)), 5, 4, True),
    "an input of one slice": (nn.Conv3d(4, 6, 3, padding=1), 1, 4, False),
    "the whole depth": (nn.Conv3d(4, 6, (3, 2, 2)), 3, 12, False),
    "windows": (nn.Conv3d(4, 6, 3, padding=1, bias=False), 4, 12, True),
    "dilation and stride": (nn.Conv3d(4, 6, 3, 2, 2, (2, 1, 1)), 5, 12, True),
    "groups": (nn.Conv3d(4, 6, (2, 3, 3), groups=2), 3, 4, True),
    "along the depth": (nn.Conv3d(4, 6, (3, 1, 1), padding=(1, 0, 0)), 4, 4, False),
    "along the depth, dilated": (nn.Conv3d(4, 6, (2, 1, 1), (2, 1, 1), 0, (2, 1, 1)), 6, 4, False),
    "along the depth, groups": (nn.Conv3d(4, 6, (2, 1, 1), groups=2), 3, 2, False),
    "along the depth, every second pixel": (nn.Conv3d(4, 6, (2, 1, 1), (1, 2, 1)), 3, 8, True),
    "along the depth, padded": (
        nn.Conv3d(4, 6, (2, 1, 1), padding=(0, 1, 0)),
        3,
        8,
        True,
    ),
    "along the depth of one slice": (nn.Conv3d(4, 6, (3, 1, 1), padding=(1, 0, 0)), 1, 4, False),
}


@pytest.mark.parametrize("name", CASES)
def test_three_to_two_dimensions(name: str) -> None:
    layer, depth, channels, copied = CASES[name]
    x = torch.randn((2, 4, depth, 5, 4), generator=torch.Generator().manual_seed(0))
    # The two forms add in another order.
    changes, graph = check_aten_pass(
        three_to_two_dimensions, lambda a, x: a(x), layer, inputs=[x], atol=1e-5
    )
    assert changes == 1
    (conv,) = (n for n in graph.graph.nodes if n.target is torch.ops.aten.convolution.default)
    assert conv.args[1].meta["val"].shape[1] == channels
    assert ("aten.index_select" in op_counts(graph)) == copied


# The layer, depth of the input, channels for each of the input in 2d.
TRANSPOSED: dict[str, tuple[nn.Module, int, int]] = {
    "one slice deep": (nn.ConvTranspose3d(4, 6, (1, 3, 2), (1, 2, 2), (0, 1, 0)), 3, 6),
    "slices of their own": (nn.ConvTranspose3d(4, 6, 2, 2, bias=False), 3, 12),
    "groups": (nn.ConvTranspose3d(4, 6, (2, 3, 3), 2, groups=2, dilation=(1, 2, 1)), 2, 6),
    "an input of one slice": (
        nn.ConvTranspose3d(4, 6, 3, (1, 2, 2), (0, 1, 1), output_padding=(0, 1, 0)),
        1,
        18,
    ),
    "slices in between": (nn.ConvTranspose3d(4, 6, (1, 2, 2), 2), 3, 6),
    "overlapping": (nn.ConvTranspose3d(4, 6, 3, 2, groups=2, dilation=2), 3, 9),
    "padding": (nn.ConvTranspose3d(4, 6, 2, 2, 1, 1, bias=False), 3, 12),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed(name: str) -> None:
    layer, depth, channels = TRANSPOSED[name]
    x = torch.randn((2, 4, depth, 3, 4), generator=torch.Generator().manual_seed(0))
    changes, graph = check_aten_pass(
        three_to_two_dimensions, lambda a, x: a(x), layer, inputs=[x], atol=1e-5
    )
    assert changes == 1
    (conv,) = (n for n in graph.graph.nodes if n.target is torch.ops.aten.convolution.default)
    assert conv.args[1].meta["val"].shape[1] == channels
