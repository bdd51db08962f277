# SPDX-License-Identifier: Apache-2.0
"""Other machines run the README's first command and a test; the second time without a network."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.machines.roots import Machine, make_machine

_SOURCE = Path("WORKSPACE").resolve().parent

# One of both kinds: on the host with sanitizers, and on a simulated board.
_TESTS = "//kernels/add:all"

_MACHINES = {
    # Suite, user, marks of Debian.
    "debian_13": ("trixie", 0, True),
    "debian_12_without_a_name": ("bookworm", 4242, True),
    "fictional": ("trixie", 4242, False),
}


@pytest.fixture(params=_MACHINES)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    return make_machine(tmp_path, *_MACHINES[request.param])


def test_both_commands(machine: Machine) -> None:
    first = machine.bazel(_SOURCE, "run", "//boards:corstone300_app.sim")
    print(first.stderr)
    assert first.returncode == 0, first.stderr
    assert "equal to the reference         450 (100.00%)" in first.stdout
    tests = machine.bazel(_SOURCE, "test", _TESTS)
    assert tests.returncode == 0, tests.stdout + tests.stderr
    again = machine.bazel(_SOURCE, "run", "//boards:corstone300_app.sim", network=False)
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout


def test_two_users_of_one_cache(tmp_path: Path) -> None:
    """The second user of a group's folder needs no network, and takes results of the first."""
    group = 4000
    first = replace(make_machine(tmp_path, "trixie", 4242), group=group, cache="/srv/cache")
    second = replace(first, user=4243)
    cache = first.root / "srv/cache"
    cache.mkdir(parents=True)
    os.chown(cache, 0, group)
    cache.chmod(0o2775)
    for user in (first, second):
        user.make_home()
    done = first.bazel(_SOURCE, "run", "//boards:corstone300_app.sim")
    assert done.returncode == 0, done.stderr
    again = second.bazel(_SOURCE, "run", "//boards:corstone300_app.sim", network=False)
    print(again.stderr)
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout
    assert re.search(r"processes: \d+ disk cache hit, \d+ internal\.", again.stderr)
    (folder,) = cache.iterdir()
    assert {path.stat().st_uid for path in (folder / "disk/ac").rglob("*")} == {4242}
