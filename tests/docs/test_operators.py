# SPDX-License-Identifier: Apache-2.0
"""The page of the operators agrees with the rules."""

import re

import torch

from aot.backends.cortex_m import FLOAT_OPS
from aot.backends.ethos_u.emit import ADOPTED
from aot.dialect.library import OPS
from aot.passes.aten.decompositions.rare_ops import COMPOSED
from aot.rules import _TABLE
from aot.rules.floats import FORMS
from aot.support.supported_ops import supported_ops, with_table
from tools.lint.workspace import workspace_root

_PAGE = (workspace_root() / "docs" / "operators.md").read_text()
_INT8, _FLOAT, _REFUSED, _EVERY = re.split(r"^## .*$", _PAGE, flags=re.MULTILINE)[1:]


def _aten(text: str) -> list[str]:
    return re.findall(r"`aten\.(\w+)`", text)


def test_every_op_of_the_dialect_has_a_row() -> None:
    of_the_cpu = {name for name in OPS if not name.startswith(ADOPTED)}
    assert set(re.findall(r"`pl\.(\w+)`", _INT8)) == of_the_cpu


def test_the_ops_with_a_float_kernel_are_listed() -> None:
    found = {str(op).split(".")[1] for op in (*FLOAT_OPS, *FORMS)}
    assert _aten(_FLOAT) == sorted(found)


def test_what_is_refused_has_no_form() -> None:
    for name in _aten(_REFUSED):
        packet = getattr(torch.ops.aten, name)
        overloads = [getattr(packet, overload) for overload in packet.overloads()]
        assert not any(op in _TABLE or op in COMPOSED for op in overloads), name


def test_the_table_of_every_op_is_that_of_the_rules() -> None:
    """If not: tools/bazel run //aot/support:supported_ops -- --update."""
    assert with_table(_PAGE) == _PAGE


def test_rules_say_what_they_refuse_and_what_they_take() -> None:
    rows = {row.names[0]: row for row in supported_ops()}
    assert rows["linear.default"].becomes == ("linear",)
    assert rows["linear.default"].refused == ("the ... is computed by the model",)
    assert rows["topk.default"].becomes == ("topk",) and not rows["topk.default"].ethos_u
    assert rows["sigmoid.default"].becomes == ("lut",) and rows["sigmoid.default"].int16
    assert rows["cummax.default"].way == "others"
    # A decomposition, a pass and a constant count as "others". Random ops, and ops with shapes that
    # depend on values, are "none".
    for name in ("addmm.default", "split_with_sizes.default", "full.default", "avg_pool3d.default"):
        assert rows[name].way == "others", name
    for name in ("rand.default", "nonzero.default", "masked_scatter.default"):
        assert rows[name].way == "none" and not rows[name].becomes, name
    ruled = {str(op).removeprefix("aten.") for op in _TABLE if str(op).startswith("aten.")}
    assert all(rows[name].becomes for name in ruled)
