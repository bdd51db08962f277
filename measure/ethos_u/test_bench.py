# SPDX-License-Identifier: Apache-2.0
"""The findings of `bench` hold: our results stay, and are better than upstream's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from measure.ethos_u.cases import CASES
from measure.ethos_u.sides import ours

RESULTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "results.json").read_text())
BY_PLACE = {(r["model"], r["configuration"], r["side"]): r for r in RESULTS}
OURS = [place[:2] for place in BY_PLACE if place[2] == "ours"]

# Left to the core by the partitioner: its estimates give fewer cycles there.
LEFT_TO_THE_CORE = [("gelu", "ethos-u65-256")]


def test_every_case_has_results() -> None:
    configurations = {configuration for _, configuration in OURS}
    assert len(configurations) == 3
    assert {*OURS} == {*itertools.product(CASES, configurations)}


@pytest.mark.parametrize(("model", "configuration"), OURS)
def test_ours_is_one_delegate_and_no_slower(model: str, configuration: str) -> None:
    """Our result is at least as fast as upstream's, if upstream's is complete and correct on the
    NPU.
    """
    own, other = (BY_PLACE[model, configuration, side] for side in ("ours", "upstream"))
    if (model, configuration) in LEFT_TO_THE_CORE:
        assert (own["delegates"], own["cpu_ops"], other["delegates"]) == (0, 1, 1)
        return
    assert (own["delegates"], own["cpu_ops"]) == (1, 0)
    assert not own["wrong"]
    assert own["cycles"] <= other["cycles"] or other["cpu_ops"] > 0 or other["wrong"]


LAST = ", channels last"


@pytest.mark.parametrize(
    ("model", "configuration"), [place for place in OURS if place[0].endswith(LAST)]
)
def test_channels_last_gains(model: str, configuration: str) -> None:
    """No NPU takes longer for it, and U85, where transposes are slow, much less long."""
    first, last = (BY_PLACE[m, configuration, "ours"] for m in (model.removesuffix(LAST), model))
    share = 0.95 if "u85" in configuration else 1.0
    assert last["cycles"] <= share * first["cycles"]


# model: cycles at most, by configuration.
GOALS = {
    "layer norm": {
        "ethos-u55-128": 2_200_000,
        "ethos-u65-256": 3_600_000,
        "ethos-u85-256": 500_000,
    },
    "layer norm, affine": {
        "ethos-u55-128": 2_800_000,
        "ethos-u65-256": 4_000_000,
        "ethos-u85-256": 800_000,
    },
    "softmax": {"ethos-u55-128": 320_000, "ethos-u65-256": 370_000, "ethos-u85-256": 130_000},
}


@pytest.mark.parametrize("model", GOALS)
def test_goals(model: str) -> None:
    for configuration, cycles in GOALS[model].items():
        assert BY_PLACE[model, configuration, "ours"]["cycles"] <= cycles


@pytest.mark.parametrize("model", ["softmax", "feed forward"])
def test_ours_is_still_what_it_was(model: str) -> None:
    found, kept = ours(CASES[model], "ethos-u55-128"), BY_PLACE[model, "ethos-u55-128", "ours"]
    assert found.cycles <= kept["cycles"] and found.sram <= kept["sram"]
    assert found.sqnr_db is not None and found.sqnr_db >= kept["sqnr_db"] - 0.1
