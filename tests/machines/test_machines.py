# SPDX-License-Identifier: Apache-2.0
"""Other machines run the README's first command and a test; the second time without a network."""

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
