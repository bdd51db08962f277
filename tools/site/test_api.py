# SPDX-License-Identifier: Apache-2.0
"""API pages have each public name, with its arguments, and each declaration of a header."""

from tests.api.surface import surface
from tools.lint.workspace import workspace_root
from tools.site.api import c_page, declarations, python_page

_ROOT = workspace_root()


def test_every_public_name_is_on_a_page() -> None:
    python, c = python_page(_ROOT), c_page(_ROOT)
    names = [key.split(" ") for key in surface(_ROOT)]
    classes_and_functions = [n for f, n in names if f.endswith(".py") and "." not in n]
    declared = [n for f, n in names if f.endswith(".h")]
    assert len(classes_and_functions) > 30 and len(declared) > 100
    assert [n for n in classes_and_functions if f"### {n}\n" not in python] == []
    assert [n for n in declared if n not in c] == []


def test_sections_become_tables() -> None:
    page = python_page(_ROOT)
    assert "| `quantization` | " in page and "```python\nlower(\n" in page


def test_declarations_of_a_header() -> None:
    header = """// SPDX-License-Identifier: Apache-2.0
//
// Adds.
#ifndef ADD_H_
#define ADD_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The sum; wraps.
int32_t add(int32_t a, int32_t b);

// Twice.
static inline int32_t twice(int32_t a) {
  int32_t b = a;

  return add(a, b);
}

#ifdef __cplusplus
}
#endif

#endif  // ADD_H_
"""
    head, *rest = declarations(header)
    assert head[0].strip() == "// Adds."
    assert rest == [
        ("// The sum; wraps.", "int32_t add(int32_t a, int32_t b);"),
        ("// Twice.", "static inline int32_t twice(int32_t a);"),
    ]
