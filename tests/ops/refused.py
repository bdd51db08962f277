# SPDX-License-Identifier: Apache-2.0
"""Programs without an int8 form: lowering stops, reports the op and suggests a replacement."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from tests.ops.case import Case, Function, Input

# name, module, input shapes, expected message
_REFUSED: tuple[tuple[str, Callable[[], nn.Module], tuple[tuple[int, ...], ...], str], ...] = (
    (
        "group_norm_of_too_much",
        partial(nn.GroupNorm, 1, 4),
        ((1, 4, 256, 256),),
        "statistics are over 262144 values",
    ),
    ("layer_norm_eps", partial(nn.LayerNorm, 6, eps=-1.0), ((2, 6),), "eps is -1"),
    ("var_of_one_value", partial(Function, lambda x: x.var(1)), ((3, 1),), "less the correction"),
    # Reported once, although its result is an unpacked tuple.
    (
        "mode_indices",
        partial(Function, lambda x: x.mode(1)[1]),
        ((2, 3),),
        "^1 op .*\n.*aten.mode",
    ),
    (
        "inverse_of_5_rows",
        partial(Function, torch.linalg.inv),
        ((5, 5),),
        "linalg_inv.*neither an int8 form.*\n.*\n.*a matrix of at most 4 rows",
    ),
    (
        "put_in_sequence",
        partial(Function, lambda x: x.masked_scatter(x > 0.0, x.flip(1))),
        ((2, 3),),
        "aten.masked_scatter",
    ),
    (
        "random_numbers",
        partial(Function, lambda x: x + torch.rand_like(x)),
        ((2, 3),),
        "aten.rand_like.*\n.*\n.*random numbers as a model input",
    ),
    (
        "singular_values",
        partial(Function, lambda x: torch.linalg.svd(x)[1]),
        ((3, 3),),
        "linalg_svd.*\n.*\n.*pass it as a model input",
    ),
    ("topk_0", partial(Function, lambda x: x.topk(0, 1)), ((2, 3),), "none of the values"),
    (
        "attention_with_dropout",
        partial(Function, partial(functional.scaled_dot_product_attention, dropout_p=0.1)),
        ((1, 2, 3, 4),) * 3,
        "scaled_dot_product_attention.*\n.*\n.*dropout_p=0.0",
    ),
)


def cases() -> Iterator[Case]:
    for name, module, shapes, message in _REFUSED:
        inputs = tuple(Input(shape) for shape in shapes)
        yield Case(f"refused_{name}", module, inputs, {}, refused=message)
