# SPDX-License-Identifier: Apache-2.0
import pytest

from tools.lint.loads import bare_actions, wrong_loads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('load("@rules_cc//cc:defs.bzl", "cc_library")\n', []),
        ('load("//tools:x.bzl", "x")\nload(":y.bzl", "y")\n', []),
        ('load("@qemu//:version.bzl", "QEMU_VERSION")\n', []),
        (
            '\nload("@rules_cc//cc/common:cc_common.bzl", "cc_common")\n',
            [(2, "@rules_cc//cc/common:cc_common.bzl")],
        ),
        ('load(\n    "@elsewhere//:x.bzl",\n    "x",\n)\n', [(1, "@elsewhere//:x.bzl")]),
    ],
)
def test_wrong_loads(text: str, expected: list[tuple[int, str]]) -> None:
    assert wrong_loads(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run_action(\n    ctx,\n)\n", []),
        ("# ctx.actions.run(\nctx.actions.write(x)\n", []),
        ("\n    ctx.actions.run(\n", [2]),
        ("x = repository_ctx.actions.run_shell(y)\n", [1]),
    ],
)
def test_bare_actions(text: str, expected: list[int]) -> None:
    assert bare_actions(text) == expected
