# SPDX-License-Identifier: Apache-2.0
import pytest

from tools.lint.restrict import lines_with_restrict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f(const int8_t *x, int8_t *restricted);\n", []),
        ("// restrict\n/* restrict\n */\nint x;\n", []),
        ("/*\n*/ int8_t *restrict x;\n", [2]),
        ("int8_t *__restrict x;\n\nint8_t *__restrict__ y;  // restrict\n", [1, 3]),
    ],
)
def test_lines_with_restrict(text: str, expected: list[int]) -> None:
    assert lines_with_restrict(text) == expected
