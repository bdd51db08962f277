# SPDX-License-Identifier: Apache-2.0
"""A signature has all that the parameters of a reference say, and refuses what no schema has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.signature import Activation, Int32, Movable, Pair, Signature


def pool(
    input: Activation,
    parts: Sequence[Movable],
    table: Int32,
    kernel: Pair,
    dim: Sequence[int],
    keep: bool,
    scale: float,
    zero_point: int,
    input_zero_point: int,
    table_zero_point: int,
    output_zero_point: int,
) -> torch.Tensor:
    raise NotImplementedError


def test_all_of_it() -> None:
    found = Signature.of(pool)
    assert found.schema == (
        "Tensor input, Tensor[] parts, Tensor table, int[2] kernel, int[] dim, bool keep, "
        "float scale, int zero_point, int input_zero_point, int table_zero_point, "
        "int output_zero_point"
    )
    assert found.dtypes["input"] is ACTIVATIONS
    assert found.dtypes["table"] == (torch.int32,)
    assert torch.bool in found.dtypes["parts"]
    assert found.lengths == {"kernel": 2}
    assert found.results == 1
    assert found.zero_points() == {
        "input_zero_point": "input",
        "table_zero_point": "table",
        "output_zero_point": "output",
    }


def test_of_several_results_none_is_the_output() -> None:
    def split(a: Int32, output_zero_point: int) -> tuple[torch.Tensor, torch.Tensor]:
        raise NotImplementedError

    found = Signature.of(split)
    assert (found.results, found.zero_points()) == (2, {})


def test_functions_take_what_they_name() -> None:
    def shape(kernel: Sequence[int], input: torch.Tensor) -> object:
        return kernel, input

    def count(scale: float, output: str) -> object:
        return scale, output

    found = Signature.of(pool)
    given = dict(zip(found.arguments, range(len(found.arguments)), strict=True))
    assert found.by_name(shape)(*given.values()) == (3, 0)
    assert found.by_name(shape)(0, kernel=3) == (3, 0)
    assert found.by_name(count, lambda *_: "result")(*given.values()) == (6, "result")


def test_refuses_what_is_no_argument() -> None:
    def shape(other: int) -> int:
        return other

    with pytest.raises(TypeError, match="shape takes other, which the op does not have"):
        Signature.of(pool).by_name(shape)


def test_refuses_a_tensor_of_any_dtype() -> None:
    def plain(a: torch.Tensor) -> torch.Tensor:
        return a

    with pytest.raises(TypeError, match="plain: give the tensor a a dtype"):
        Signature.of(plain)


def test_refuses_a_type_without_a_schema() -> None:
    def named(a: Int32, mode: str) -> torch.Tensor:
        raise NotImplementedError

    with pytest.raises(TypeError, match="an op's schema has no type for <class 'str'>"):
        Signature.of(named)
