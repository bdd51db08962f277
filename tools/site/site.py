# SPDX-License-Identifier: Apache-2.0
"""Build all pages of the tree as a static site, and fail for a dead link.

    tools/bazel run //docs:site -- --output=$PWD/site    then open site/index.html

The site needs no network and no server. Its navigation is docs/index.md: a heading there is a
section, and the links below it are its pages.
"""

from tools.text.signal_handling import run_main

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from absl import app, flags
from sphinx.cmd.build import build_main

from tools.lint.workspace import source_files, workspace_root
from tools.site import api
from tools.version import VERSION

_OUTPUT = flags.DEFINE_string("output", None, "A folder for the site; without it nothing is kept.")

_INDEX = "docs/index.md"
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_SETTINGS = """\
project = "Pilotlight"
release = "{version}"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = "Pilotlight {version}"
html_show_sphinx = False
html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
"""


def navigation(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each section of docs/index.md and its pages, a page once."""
    seen: set[str] = set()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, rest = section.partition("\n")
        links = [os.path.normpath(f"docs/{target}") for _, target, _ in _LINK.findall(rest)]
        pages = [p for p in dict.fromkeys(links) if p.endswith(".md") and p not in seen]
        seen.update(pages)
        yield title, pages


def without_files(page: str, text: str, pages: set[str]) -> str:
    """Return a page with links to other files replaced by their texts."""

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(page), found[2]))
        if "://" in found[2]:
            return found[0]
        if f"{target}/README.md" in pages:
            way = os.path.relpath(f"{target}/README.md", os.path.dirname(page) or ".")
            return f"[{found[1]}]({way}{found[3] or ''})"
        return found[0] if target in pages else found[1]

    return _LINK.sub(link, text)


def stage(root: Path, folder: Path) -> None:
    """Write pages, pictures and settings as Sphinx takes them."""
    pages = set(source_files(root, ["*.md"], [".github/*"]))
    for page in pages:
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(without_files(page, (root / page).read_text(), pages))
    shutil.copytree(root / "docs/images", folder / "docs/images")
    for page, write in api.PAGES.items():
        (folder / page).write_text(write(root))
    sections = list(navigation((root / _INDEX).read_text()))
    for title, found in sections:
        if title == "Reference":
            found.extend(api.PAGES)
    listed = {page for _, found in sections for page in found} | {_INDEX}
    sections.append(("More", sorted(pages - listed - {"README.md"})))
    trees = "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(found) + "\n```\n"
        for title, found in [("Start", ["README.md", _INDEX]), *sections]
        if found
    )
    (folder / "index.md").write_text(
        "# Pilotlight\n\nStart with the [overview](README.md), or pick from "
        f"[all pages](docs/index.md).\n{trees}"
    )
    (folder / "conf.py").write_text(_SETTINGS.format(version=VERSION))


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    with tempfile.TemporaryDirectory() as text:
        source, site = Path(text) / "source", Path(text) / "site"
        stage(workspace_root(), source)
        status = int(build_main(["-q", "-W", "--keep-going", "-b", "html", str(source), str(site)]))
        if status == 0 and _OUTPUT.value:
            shutil.rmtree(site / ".doctrees", ignore_errors=True)
            shutil.copytree(site, _OUTPUT.value, dirs_exist_ok=True)
        return status


if __name__ == "__main__":
    run_main(main)
