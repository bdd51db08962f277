# SPDX-License-Identifier: Apache-2.0
"""What the comparison with the baseline finds."""

import pytest

from kernels.bench.bench import as_table, regressions
from kernels.bench.program import layers
from kernels.testing.folders import folders

_BASELINE = {"cortex-m3": {"conv": 1000, "add": 200}}


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ({"cortex-m3": {"conv": 1000, "add": 200}}, []),
        ({"cortex-m3": {"conv": 1010, "add": 150}}, []),
        ({"cortex-m3": {"conv": 1011, "add": 200}}, ["cortex-m3, conv: 1011, was 1000"]),
        (
            {"cortex-m3": {"conv": 1000, "add": 200, "lut": 9}},
            ["cortex-m3, lut: 9, not in the baseline"],
        ),
        ({"cortex-m3": {"conv": 1000}}, ["cortex-m3, add: in the baseline only"]),
        (
            {"cortex-m3": {"conv": 1000, "add": 200}, "cortex-m4": {"conv": 9}},
            ["cortex-m4, conv: 9, not in the baseline"],
        ),
    ],
)
def test_regressions(counts: dict[str, dict[str, int]], found: list[str]) -> None:
    assert regressions(counts, _BASELINE) == found


def test_table_shows_the_peer() -> None:
    text = as_table(_BASELINE, {"conv": "net/conv1"}, {"cortex-m3": {"net/conv1": 4321}})
    assert "1,000  (4,321)" in text
    assert text.count("(4,321)") == 1


def test_layers_have_their_own_names() -> None:
    names = [layer.name for layer in layers()]
    assert len(set(names)) == len(names)


def test_every_kernel_has_a_layer() -> None:
    without = [f"kernels/{f.name}/cases.py" for f in folders() if not list(f.layers())]
    assert without == [], "no layers"
