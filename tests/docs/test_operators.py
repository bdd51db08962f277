# SPDX-License-Identifier: Apache-2.0
"""The page of the operators says what the rules do."""

import re

import torch

from aot.backends.cortex_m import FLOAT_OPS
from aot.dialect.library import OPS
from aot.passes.aten.compositions import COMPOSED
from aot.rules import _TABLE
from aot.rules.floats import FORMS
from tools.lint.workspace import workspace_root

_PAGE = (workspace_root() / "docs" / "operators.md").read_text()
_INT8, _FLOAT, _REFUSED = re.split(r"^## .*$", _PAGE, flags=re.MULTILINE)[1:]


def _aten(text: str) -> list[str]:
    return re.findall(r"`aten\.(\w+)`", text)


def test_every_op_of_the_dialect_has_a_row() -> None:
    assert set(re.findall(r"`pl\.(\w+)`", _INT8)) == set(OPS)


def test_the_ops_with_a_float_kernel_are_listed() -> None:
    found = {str(op).split(".")[1] for op in (*FLOAT_OPS, *FORMS)}
    assert _aten(_FLOAT) == sorted(found)


def test_what_is_refused_has_no_form() -> None:
    for name in _aten(_REFUSED):
        packet = getattr(torch.ops.aten, name)
        overloads = [getattr(packet, overload) for overload in packet.overloads()]
        assert not any(op in _TABLE or op in COMPOSED for op in overloads), name
