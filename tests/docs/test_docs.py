# SPDX-License-Identifier: Apache-2.0
"""Checks of the pages as far as a test can: links have targets, labels refer to packages, boards
are on their page. The README's model of your own is the example that is built and run.
"""

import re

import pytest

from tests.tflite.recorded import EXECUTORCH, EXECUTORCH_CORE, TFLM
from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_PAGES = source_files(_ROOT, ["*.md"])
_README = (_ROOT / "README.md").read_text()
_EXAMPLE = _ROOT / "examples" / "gesture"

# Workspace of a page's labels, if it is not this one.
_WORKSPACES = {"docs/outside.md": _ROOT / "examples" / "outside"}


def test_there_are_pages() -> None:
    assert {"README.md", "CONTRIBUTING.md", "kernels/README.md"} <= set(_PAGES)


@pytest.mark.parametrize("page", _PAGES)
def test_links_lead_somewhere(page: str) -> None:
    folder = (_ROOT / page).parent
    links = re.findall(r"\]\(([^)#\s]+)", (_ROOT / page).read_text())
    assert [link for link in links if "://" not in link and not (folder / link).exists()] == []


def _anchors(text: str) -> set[str]:
    """Return the link targets within a page: its headings, named in GitHub's style and others'."""
    headings = (h.lower().strip() for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", h).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", _PAGES)
def test_links_into_pages_lead_to_headings(page: str) -> None:
    path = _ROOT / page
    links = re.findall(r"\]\(([\w./-]*)#([^)\s]+)\)", path.read_text())
    found = ((path.parent / name if name else path, anchor) for name, anchor in links)
    assert [a for target, a in found if a not in _anchors(target.read_text())] == []


# Pages of GitHub's own.
_UNLINKED = {".github/pull_request_template.md"}


def test_every_page_is_reached_from_the_index() -> None:
    reached, waiting = set(), [_ROOT / "docs/index.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
            waiting += [page.parent / link for link in links if "://" not in link]
    pages = {(_ROOT / name).resolve() for name in _PAGES if name not in _UNLINKED}
    assert sorted(str(page) for page in pages - reached) == []


# docs/migration.md lists removed packages; tools/test_migrate.py reads it.
@pytest.mark.parametrize("page", [page for page in _PAGES if page != "docs/migration.md"])
def test_labels_name_packages(page: str) -> None:
    text = (_ROOT / page).read_text()
    # visibility is Bazel's own.
    packages = set(re.findall(r"(?<![\w@:/])//([a-z][\w/]*)", text)) - {"visibility"}
    roots = [_ROOT, _WORKSPACES.get(page, _ROOT)]
    assert [p for p in packages if not any((r / p / "BUILD.bazel").exists() for r in roots)] == []


def test_every_board_is_listed_and_has_its_row() -> None:
    found = source_files(_ROOT, ["boards/*/BUILD.bazel"], ["boards/*/*/BUILD.bazel"])
    boards = [f.split("/")[1] for f in found if "\nboard(" in (_ROOT / f).read_text()]
    assert len(boards) > 1
    lists = (_ROOT / "boards" / "boards.bzl").read_text()
    rows = re.findall(r"^\|(.*?)\|", (_ROOT / "boards" / "README.md").read_text(), re.MULTILINE)
    assert [b for b in boards if f'"//boards/{b}"' not in lists] == []
    assert [b for b in boards if not any(f"`{b}`" in row for row in rows)] == []


def test_the_readmes_build_file_is_the_examples() -> None:
    (shown,) = re.findall(r"```starlark\n(.*?)```", _README, re.DOTALL)
    licence, _, rest = (_EXAMPLE / "BUILD.bazel").read_text().partition("\n")
    assert "SPDX" in licence
    assert rest == shown
    lines = [line for line in shown.splitlines() if line and not line.startswith("load")]
    assert len(lines) <= 10


def test_the_readmes_comparison_is_what_was_recorded() -> None:
    cells = re.findall(
        r"^\| (flash|RAM|instr).*?\| \*\*([\d.,]+).*?\| ([\d.,]+).*?\| ([\d.,]+)", _README, re.M
    )
    page = (_ROOT / "docs" / "tflite.md").read_text()
    (own,) = re.findall(r"^ds_cnn +cortex-m55 +(\S+) k .*? (\S+) KB +\S+ KB +(\S+)", page, re.M)
    tflm, executorch = TFLM["ds_cnn"][EXECUTORCH_CORE], EXECUTORCH["ds_cnn"]
    peers = (tflm, executorch)
    assert cells == [
        ("flash", own[1], *(str(peer.flash) for peer in peers)),
        ("RAM", own[2], *(f"{peer.ram:,}" for peer in peers)),
        ("instr", own[0], *(f"{peer.instructions:,}" for peer in peers)),
    ]


def test_the_readme_is_short() -> None:
    assert len(_README.splitlines()) < 120


def test_example_apps_are_short() -> None:
    apps = source_files(_ROOT, ["examples/*/*.c", "examples/*/app/*.c"], [])
    assert len(apps) >= 4
    assert [app for app in apps if len((_ROOT / app).read_text().splitlines()) > 60] == []


def test_the_readmes_command_names_functions_that_exist() -> None:
    named = re.findall(r"--(?:model|calibration) ([\w.]+):(\w+)", _README)
    assert len(named) == 2
    for module, function in named:
        path = _ROOT / (module.replace(".", "/") + ".py")
        assert f"def {function}(" in path.read_text()
