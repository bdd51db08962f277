# SPDX-License-Identifier: Apache-2.0
"""C names of plans and their headers, from c_name.bzl.

PL_NAMES and PL_ASCII are JSON objects, PL_HEADERS a list.
"""

import json
import os
import re

import pytest

_NAMES: dict[str, str | None] = json.loads(os.environ["PL_NAMES"])
_ASCII: dict[str, bool] = json.loads(os.environ["PL_ASCII"])
_HEADERS: list[str] = json.loads(os.environ["PL_HEADERS"])


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("digits", "digits"),
        ("Digits_2", "Digits_2"),
        ("my-app", "my_app"),
        ("my-app.v2_plan", "my_app_v2_plan"),
        ("folder/a+b", "folder_a_b"),
        ("a_-", "a__"),
        ("4bit", None),
        ("int", None),
        ("while", None),
        ("int-", "int_"),
        ("_Bool", None),
        ("steps", None),
        ("my_steps", "my_steps"),
        ("arena_dtcm", None),
        ("step_1", None),
        ("step_counter", "step_counter"),
        ("pl-plan", None),
        ("uint8_t", None),
        ("memcpy", None),
    ],
)
def test_name(target: str, name: str | None) -> None:
    assert _NAMES.pop(target) == name
    assert name is None or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)


def test_header_in_a_folder_and_in_the_root() -> None:
    assert _HEADERS == ["nets/small/net_plan.h", "net_plan.h"]


def test_every_name_has_a_case() -> None:
    assert _NAMES == {}


def test_letters_that_bazel_loses_in_paths() -> None:
    assert set(_ASCII.values()) == {True, False}
    assert all(is_ascii == label.isascii() for label, is_ascii in _ASCII.items())
