# SPDX-License-Identifier: Apache-2.0
"""The names that plans have in C, as c_name.bzl gives them (PL_NAMES: a JSON object)."""

import json
import os
import re

import pytest

_NAMES: dict[str, str | None] = json.loads(os.environ["PL_NAMES"])


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("digits", "digits"),
        ("Digits_2", "Digits_2"),
        ("my-app", "my_app"),
        ("my-app.v2_plan", "my_app_v2_plan"),
        ("folder/a+b", "folder_a_b"),
        ("_-", "__"),
        ("4bit", None),
        ("int", None),
        ("while", None),
        ("int-", "int_"),
    ],
)
def test_name(target: str, name: str | None) -> None:
    assert _NAMES.pop(target) == name
    assert name is None or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)


def test_every_name_has_a_case() -> None:
    assert _NAMES == {}
