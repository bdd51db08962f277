# SPDX-License-Identifier: Apache-2.0
"""Generated pages of docs/reference are up to date."""

import pytest

from tests.docs.reference import PAGES, macros, status_names, statuses
from tools.lint.workspace import workspace_root

_ROOT = workspace_root()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_up_to_date(page: str) -> None:
    """If not: tools/bazel run //tests/docs:reference_main -- --update."""
    assert (_ROOT / page).read_text() == PAGES[page](_ROOT)


def test_every_argument_has_a_meaning() -> None:
    rows = [line for line in macros(_ROOT).splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    assert [row for row in rows if row.endswith(("| |", "|  |"))] == []


def test_every_status_has_a_row() -> None:
    page = statuses(_ROOT)
    for name in ("PL_ERROR_OUTPUT_OVERLAP", "PL_SLOT_REJECTED", "ETHOS_U_ERROR_TIMEOUT"):
        assert f"| `{name}` |" in page
    assert "STATUS_COUNT" not in page


def test_comments_of_statuses() -> None:
    header = """
typedef enum {
  A_OK = 0,
  // A group.
  A_ERROR_ONE,  // the first,
                // and more
  A_ERROR_TWO,
  A_STATUS_COUNT,
} a_status;
"""
    expected = {"A_OK": "", "A_ERROR_ONE": "the first, and more", "A_ERROR_TWO": ""}
    assert status_names(header, "a_status") == expected
