# SPDX-License-Identifier: Apache-2.0
"""Check the subject of a commit: `area: imperative`, at most 65 characters.

    subject.py MESSAGE           the file with the message of a commit
    subject.py --range=main..    commits that there are

Call it as `python3 -m tools.lint.subject`. `git config core.hooksPath tools/lint/hooks` checks each
new commit. It needs no package, as a hook runs with any Python.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

MOST = 65

_FORM = re.compile(r"[\w.+-]+(/[\w.+-]+)*: (?P<verb>\S+).*[^.\s]")
_NO_VERBS = frozenset(("a", "an", "as", "by", "how", "in", "of", "that", "the", "what", "which"))
_MADE_BY_GIT = re.compile(r"Merge |Revert \"|(fixup|squash|amend)! ")


def problem(subject: str) -> str:
    """Return what is wrong with a subject, "" if it is right."""
    if _MADE_BY_GIT.match(subject):
        return ""
    form = _FORM.fullmatch(subject)
    if form is None:
        return "write it as `area: imperative`, without a period"
    if len(subject) > MOST:
        return f"has {len(subject)} characters, {MOST} are allowed: reasons go into the body"
    if form["verb"].lower() in _NO_VERBS or re.fullmatch(
        r"\w{3,}(?<!bri)(?<!str)ing", form["verb"]
    ):
        return f"begins with {form['verb']!r}: use an imperative, such as `add` or `refuse`"
    return ""


def _of_a_range(commits: str) -> list[str]:
    command = ["git", "log", "--no-merges", "--format=%s", commits]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("message", type=Path, nargs="?", help="file with the message of a commit")
    parser.add_argument("--range", default="HEAD^..", help="commits, as git names them")
    options = parser.parse_args(argv)
    if options.message:
        subjects = options.message.read_text().splitlines()[:1]
    else:
        subjects = _of_a_range(options.range)
    found = [(subject, text) for subject in subjects if (text := problem(subject))]
    for subject, text in found:
        print(f"{subject}\n  {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
