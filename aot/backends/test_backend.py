# SPDX-License-Identifier: Apache-2.0
"""A backend or a target beyond the abilities of lowering is refused at creation."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from aot.backends.backend import Backend
from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload
from aot.errors import LoweringError

_aten = torch.ops.aten


def backend(name: str = "npu", **attributes: Any) -> Backend:
    given = {"delegate_id": "Npu", "compile": lambda region: DelegatePayload(b"x"), **attributes}
    return Backend(name, **given)


BAD_BACKENDS: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"name": 3}, "its name is no text of ASCII letters"),
    "no name": ({"name": ""}, "its name is no text of ASCII letters"),
    "no id": ({"delegate_id": ""}, "it needs a delegate_id"),
    "compile": ({"compile": b"x"}, "compile is b'x', not a function"),
    "reject": ({"reject": {"conv2d"}}, "reject is {'conv2d'}, not a function"),
    "not_worth": ({"not_worth": 3}, "not_worth is 3, not a function"),
    "absent": ({"absent": "no"}, "absent is 'no', not a function"),
    "dtypes": ({"dtypes": (torch.float32,)}, "dtypes has torch.float32: a delegate's border is"),
    "one dtype": ({"dtypes": torch.int8}, "dtypes is torch.int8, not a sequence"),
    "no dtypes": ({"dtypes": ()}, "dtypes is empty"),
    "keeps one op": (
        {"keeps": _aten.linear.default},
        "keeps is <OpOverload(op='aten.linear', overload='default')>, not a sequence",
    ),
    "keeps a name": ({"keeps": ("aten.linear",)}, "keeps has 'aten.linear', not an op such as"),
    "keeps what no rule takes": (
        {"keeps": (_aten.pixel_shuffle.default,)},
        "keeps has aten.pixel_shuffle.default, of which no rule makes an op",
    ),
    "traits of no op": ({"traits": {"conv3d": Traits()}}, "traits of 'conv3d', which is no op"),
    "traits in a list": ({"traits": [("add", Traits())]}, ")], not a mapping"),
    "traits of None": ({"traits": None}, "traits is None, not a mapping"),
    "traits": ({"traits": {"conv2d": "per tensor"}}, "are 'per tensor', not Traits(...)"),
    "weights": (
        {"traits": {"add": Traits(weights_per_tensor=True)}},
        "traits of 'add' ask for weights_per_tensor: it has no weights",
    ),
}


@pytest.mark.parametrize("name", BAD_BACKENDS)
def test_bad_backends(name: str) -> None:
    attributes, text = BAD_BACKENDS[name]
    with pytest.raises(LoweringError, match=f"^backend .*: .*{re.escape(text)}"):
        backend(**attributes)


BAD_TARGETS: dict[str, tuple[Any, str]] = {
    "a backend": (CORTEX_M, "backends must be a sequence; got Backend"),
    "no CPU": ((backend(),), "the last backend must be aot.backends.cortex_m.CORTEX_M"),
    "nothing": ((), "the last backend must be aot.backends.cortex_m.CORTEX_M"),
    "CPU first": ((CORTEX_M, backend()), "the last backend must be aot.backends.cortex_m.CORTEX_M"),
    "no backend": (("npu", CORTEX_M), "'npu' is not an aot.backends.backend.Backend"),
    "twice": (
        (backend(), backend(), CORTEX_M),
        "two backends have the same name: npu, npu, cortex_m",
    ),
    "compile spec .* is missing": ((Backend("cpu2"), CORTEX_M), "backend 'cpu2' has no `compile`"),
}


@pytest.mark.parametrize("name", BAD_TARGETS)
def test_bad_targets(name: str) -> None:
    backends, text = BAD_TARGETS[name]
    with pytest.raises(LoweringError, match=f"^target 't': {re.escape(text)}"):
        Target("t", backends)


@pytest.mark.parametrize("name", ["", 3])
def test_a_target_has_a_name(name: Any) -> None:
    with pytest.raises(LoweringError, match="^target .*: its name must be a non-empty string"):
        Target(name)


def test_a_target_asks_for_what_any_of_its_backends_does() -> None:
    first = backend(
        "a",
        keeps=(_aten.hardswish.default, _aten.selu.default),
        traits={"conv2d": Traits(zero_point_0=True), "add": Traits(shares_quantization=True)},
    )
    second = backend(
        "b",
        keeps=(_aten.selu.default,),
        traits={"conv2d": Traits(weights_per_tensor=True)},
    )
    target = Target("t", (first, second, CORTEX_M))
    assert target.keeps == (_aten.hardswish.default, _aten.selu.default, *CORTEX_M.keeps)
    assert target.traits == {
        "conv2d": Traits(zero_point_0=True, weights_per_tensor=True),
        "add": Traits(shares_quantization=True),
    }
    assert Target("cpu").traits == {}


def test_an_engine_that_is_absent() -> None:
    absent = {"absent": lambda: "its compiler is not installed"}
    needed, optional = backend("a", **absent), backend("b", **absent, optional=True)
    target = Target("t", (optional, backend("c"), CORTEX_M))
    target.check()
    assert target.absences == {"b": "its compiler is not installed"}
    with pytest.raises(LoweringError, match="^target 't': backend 'a': its compiler is not inst"):
        Target("t", (optional, needed, CORTEX_M)).check()
