# SPDX-License-Identifier: Apache-2.0
"""Actions of rules have the variables of .bazelrc."""

import re
from pathlib import Path


def test_actions_have_the_variables_of_bazelrc() -> None:
    asked = re.findall(r"^build --action_env=(.*)$", Path(".bazelrc").read_text(), re.MULTILINE)
    assert {"PYTHONHASHSEED=0", "OMP_NUM_THREADS=1"} <= set(asked)
    assert set(asked) <= set(Path("tools/environment.txt").read_text().splitlines())


def test_bazelrc_reads_the_users_own() -> None:
    last = Path(".bazelrc").read_text().splitlines()[-1]
    assert last == "try-import %workspace%/.bazelrc.user", "the last setting counts"


def test_actions_that_succeed_are_quiet() -> None:
    """No label matches: Bazel then shows the output of failures alone."""
    filters = re.findall(
        r"^build --output_filter=(.*)$", Path(".bazelrc").read_text(), re.MULTILINE
    )
    assert [re.search(pattern, "//any:target") for pattern in filters] == [None]
