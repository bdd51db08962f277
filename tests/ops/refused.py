# SPDX-License-Identifier: Apache-2.0
"""What has no int8 form: lowering stops, names the op and says what to write instead."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from tests.ops.case import Case, Function, Input

# name, module, input shapes, what the message has to say
_REFUSED: tuple[tuple[str, Callable[[], nn.Module], tuple[tuple[int, ...], ...], str], ...] = (
    (
        "max_pool2d_indices",
        partial(nn.MaxPool2d, 2, return_indices=True),
        ((1, 2, 4, 4),),
        "max_pool2d",
    ),
    (
        "adaptive_max_pool2d_indices",
        partial(nn.AdaptiveMaxPool2d, 2, return_indices=True),
        ((1, 2, 4, 4),),
        "adaptive_max_pool2d",
    ),
    ("div", partial(Function, torch.div), ((2, 3), (2, 3)), "aten.div"),
    ("minimum", partial(Function, torch.minimum), ((2, 3), (2, 3)), "aten.minimum"),
    ("sum", partial(Function, partial(torch.sum, dim=1)), ((2, 3),), "aten.sum"),
    ("amax", partial(Function, partial(torch.amax, dim=1)), ((2, 3),), "aten.amax"),
    (
        "layer_norm_computed_weight",
        partial(Function, lambda x, w: functional.layer_norm(x, (6,), w)),
        ((2, 6), (6,)),
        "the weight is computed.*\n.*\n.*norm\\(x\\) \\* weight",
    ),
    (
        "group_norm_of_too_much",
        partial(nn.GroupNorm, 1, 4),
        ((1, 4, 256, 256),),
        "statistics are over 262144 values",
    ),
    ("layer_norm_eps", partial(nn.LayerNorm, 6, eps=-1.0), ((2, 6),), "eps is -1"),
    # Said once, although min gives a tuple that is taken apart.
    ("min_dim", partial(Function, lambda x: x.min(1)[0]), ((2, 3),), "^1 op .*\n.*aten.min"),
    ("max", partial(Function, torch.max), ((2, 3),), "aten.max.*\n.*\n.*flatten"),
    (
        "arithmetic_on_indices",
        partial(Function, lambda x: x.argmax(1) + 1),
        ((2, 3),),
        "int64",
    ),
    (
        "attention_with_dropout",
        partial(Function, partial(functional.scaled_dot_product_attention, dropout_p=0.1)),
        ((1, 2, 3, 4),) * 3,
        "scaled_dot_product_attention.*\n.*\n.*dropout_p=0.0",
    ),
    ("conv3d", partial(nn.Conv3d, 2, 2, 2), ((1, 2, 3, 3, 3),), "aten.conv"),
    ("gather", partial(Function, lambda x: x.sort(dim=1)), ((2, 5),), "aten.sort"),
    (
        "where",
        partial(Function, lambda x, y: torch.where(x > y, x, -y)),
        ((2, 5),) * 2,
        "aten.where",
    ),
    ("identity", nn.Identity, ((2, 3),), "unchanged"),
    ("prelu_per_channel", partial(nn.PReLU, 4), ((1, 4, 3, 3),), "prelu"),
)


def cases() -> Iterator[Case]:
    for name, module, shapes, message in _REFUSED:
        inputs = tuple(Input(shape) for shape in shapes)
        yield Case(f"refused_{name}", module, inputs, {}, refused=message)
