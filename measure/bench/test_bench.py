# SPDX-License-Identifier: Apache-2.0
"""The comparison with the baseline finds regressions."""

import json
from collections import Counter
from pathlib import Path

import pytest

from kernels.common.kernel import Constant, Isa, OpCall
from kernels.registry import kernel_call
from kernels.testing.folders import folders
from measure.bench.bench import (
    as_table,
    cost,
    instruction_cost,
    ops_too_near,
    ratios,
    regressions,
    shares_of_ops,
    too_many,
    too_near,
)
from measure.bench.networks import sums_of_networks
from measure.bench.program import layers
from tools.simulator.counts import Region
from tools.simulator.elf import Elf, ElfError, ElfSection

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


@pytest.mark.parametrize(
    ("word", "taken"),
    [
        (0xBF002000, 1),  # movs r0, #0; nop
        (0x0F01FB01, 1),  # mul pc, r1, r1
        (0x0E00ED10, 2),  # vldrb.u8 q0, [r0]
        (0x1F78EDB0, 2),  # vldrw.u32 q0, [r0, #480]!
        (0x0E10EE32, 2),  # vmladava.s8 r0, q1, q0
        (0x0840EF22, 2),  # vadd.i32 q0, q1, q0
        (0x0F42EC90, 4),  # vldrw.u32 q0, [r0, q1]
        (0x1E01FD92, 4),  # vldrw.u32 q0, [q1, #4]
        (0x0E02EC80, 16),  # vstrb.8 q0, [r0, q1]
    ],
)
def test_instruction_cost(word: int, taken: int) -> None:
    assert instruction_cost(word) == taken


def test_cost_of_the_last_instruction() -> None:
    """The last instruction may have 16 bits, with nothing after it."""
    code = bytes.fromhex("42ef2208 7047")  # vadd.i32 q0, q1, q1; bx lr
    elf = object.__new__(Elf)
    elf.path = Path("x.elf")
    elf.__dict__["sections"] = [ElfSection(".text", 0x100, 0x100, 6, True, True, code)]
    assert cost(Region(1, 5, Counter({0x100: 4, 0x104: 1})), elf) == 9
    with pytest.raises(ElfError, match="has no data at 0x00000105"):
        cost(Region(1, 1, Counter({0x105: 1})), elf)


def test_shares_of_the_peer() -> None:
    counts = {"cortex-m4": {"conv": 300, "add": 100, "own": 7}}
    names = {"conv": "net/conv1", "add": "net/add1"}
    other = {"cortex-m4": {"net/conv1": 1000, "net/add1": 100, "net/fc": 5}}
    networks = {"net": {"net/conv1": 2, "net/add1": 4}, "partly": {"net/fc": 1}}
    by_network, by_layer = ratios(counts, names, other, networks)
    assert by_network == {"cortex-m4": {"net": 1000 / 2400}}
    assert by_layer == {"cortex-m4": {"net/conv1": 0.3, "net/add1": 1.0}}
    assert too_near(by_network, 0) == []
    assert [line.split(":")[0] for line in too_near(by_layer, 1)] == ["cortex-m4, net/add1"]


def test_shares_of_ops() -> None:
    """Each layer as often as the networks have it."""
    counts = {"cortex-m55": {"a": 30, "b": 50, "mean": 26, "own": 7}}
    names = {"a": "net/dw1", "b": "net/dw12", "mean": "net/avgpool"}
    other = {"cortex-m55": {"net/dw1": 100, "net/dw12": 100, "net/avgpool": 100}}
    shares = shares_of_ops(counts, names, other, {"net": {"net/dw1": 3, "net/dw12": 1}})
    assert shares == {"cortex-m55": {"depthwise": 140 / 400}}
    shares = shares_of_ops(counts, names, other, {"net": {"net/dw12": 1, "net/avgpool": 1}})
    assert [line.split(":")[0] for line in ops_too_near(shares)] == [
        "cortex-m55, depthwise",
        "cortex-m55, mean",
    ]


def test_instructions_of_networks() -> None:
    counts = {"cortex-m4": {"conv": 8_400_000, "dw": 1, "own": 7}}
    names = {"conv": "vww/conv1", "dw": "vww/dw1"}
    sums = sums_of_networks(counts, names, {"vww": {"vww/conv1": 1}, "partly": {"vww/fc": 1}})
    assert sums == {"cortex-m4": {"vww": 8_400_000}}
    assert too_many(sums) == []
    sums = sums_of_networks(counts, names, {"vww": {"vww/conv1": 1, "vww/dw1": 1}})
    assert [line.split(":")[0] for line in too_many(sums)] == ["cortex-m4, vww"]


def test_layers_have_their_own_names() -> None:
    names = [layer.name for layer in layers()]
    assert len(set(names)) == len(names)


def test_every_kernel_has_a_layer() -> None:
    without = [f"kernels/{f.name}/cases.py" for f in folders() if not list(f.layers())]
    assert without == [], "no layers"


@pytest.mark.parametrize("isa", ["dsp", "mve"])
def test_constants_of_networks(isa: Isa) -> None:
    """Packed for fast kernels they take at most 6% more than in the plain form."""
    networks = json.loads((Path(__file__).parent / "cmsis_nn.json").read_text())["networks"]
    of_peer = {layer.peer: layer.call for layer in layers() if layer.peer}
    for network, times in networks.items():
        fast, plain = (
            sum(_constant_bytes(of_peer[peer], form) * n for peer, n in times.items())
            for form in (isa, "scalar")
        )
        assert fast <= 1.06 * plain, network


def _constant_bytes(call: OpCall, isa: Isa) -> int:
    data = kernel_call(call, isa).data.values()
    return sum(operand.array.nbytes for operand in data if isinstance(operand, Constant))
