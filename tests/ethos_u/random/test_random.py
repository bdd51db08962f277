# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from aot.backends.npus import NPUS
from tests.ethos_u.random.graphs import random_graph
from tests.ethos_u.random.trial import trial

_COUNT = 12


@pytest.mark.parametrize("configuration", ["ethos-u55-128", "ethos-u65-512", "ethos-u85-256"])
def test_graphs_are_executed_as_the_reference_has_them(configuration: str) -> None:
    found = [trial(seed, configuration) for seed in range(_COUNT)]
    assert [t for t in found if t.wrong and not t.form] == []
    assert sum(not t.refused for t in found) > _COUNT // 2


def test_a_seed_is_a_graph() -> None:
    first, second = (random_graph(5, NPUS["ethos-u55-128"]) for _ in range(2))
    assert first == second != random_graph(6, NPUS["ethos-u55-128"])
