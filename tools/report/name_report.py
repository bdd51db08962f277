# SPDX-License-Identifier: Apache-2.0
"""Print the page path of an image, for a browser.

    bazel run //boards:corstone300_app.report
    bazel run //boards:nrf52840dk_app.report -- --profile=cycles.json

The page is built first; the only output line is its path. A profile comes from `.run` or `.cycles`,
built with --//firmware/runtime:profile_steps. Given a profile, the page is a separate file next to
it, with the cycles of the steps.
"""

from tools.text.signal_handling import run_main

import json
import os
import sys
from pathlib import Path

from absl import app, flags

from tools.report.cycles import ReportCyclesError, with_cycles
from tools.report.libraries import libraries
from tools.report.page import page

_PAGE = flags.DEFINE_string("page", None, "The page.", required=True)
_REPORT = flags.DEFINE_string("report", None, "Its report.json.", required=True)
_PROFILE = flags.DEFINE_string("profile", None, "A profile whose cycles the page shall have.")


def page_with_cycles(report: Path, profile: Path) -> Path:
    """Write the page of a profile, and return where it is."""
    try:
        cycles = json.loads(profile.read_text())
        counted = with_cycles(json.loads(report.read_text()), cycles)
    except (ValueError, KeyError, TypeError) as error:
        raise ReportCyclesError(
            "the file is not a profile (tools/image/profile.schema.json)"
        ) from error
    output = profile.with_suffix(".html")
    output.write_text(page(counted, libraries()))
    return output


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    found = Path(_PAGE.value)
    if _PROFILE.value:
        profile = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), _PROFILE.value)
        try:
            found = page_with_cycles(Path(_REPORT.value), profile)
        except ReportCyclesError as error:
            print(f"{profile}: {error}", file=sys.stderr)
            return 1
        except OSError as error:
            print(f"{error.filename}: {error.strerror}", file=sys.stderr)
            return 1
    print(found.resolve())
    return 0


if __name__ == "__main__":
    run_main(main)
