# SPDX-License-Identifier: Apache-2.0
"""Random calls of each op, and random graphs: the dialect, TOSA's reference model and the
functional model of the NPU agree bit for bit. `proof_main.py` is the same for thousands.
"""

from __future__ import annotations

import pytest
import torch
from tosa import Op
from tosa.TosaGraph import TosaGraph

from aot.backends.ethos_u.emit import ADOPTED, emitted, reject
from aot.backends.ethos_u.emitters import EMITTERS, WHY_NOT
from aot.backends.ethos_u.testing.draw import Draw
from aot.backends.ethos_u.testing.graphs import random_graph
from aot.backends.ethos_u.testing.proof import prove
from aot.backends.ethos_u.testing.regions import INT16_REGIONS, REGIONS, random_region
from aot.backends.ethos_u.verify import MissingWaitError
from aot.backends.npus import NPUS
from aot.dialect.arithmetic import quantize_mean
from aot.dialect.graph import NHWC, Origin, calls, dialect_op, edge_of
from aot.dialect.library import OPS
from aot.dialect.quantization import INT8, INT16, QuantizedType

CONFIGURATIONS = list(NPUS)
SEEDS = 3  # one a configuration, the next ones for the next op
GRAPHS = 3  # likewise
TABLE = torch.arange(127, -129, -1).to(torch.int8)


def operators(tosa: bytes) -> list[str]:
    block = TosaGraph.GetRootAs(tosa, 0).Regions(0).Blocks(0)
    names = {value: name for name, value in vars(Op.Op).items() if isinstance(value, int)}
    found = [names[block.Operators(i).Op()] for i in range(block.OperatorsLength())]
    return [name for name in found if not name.startswith("CONST")]


def test_every_emitter_is_proved() -> None:
    assert REGIONS.keys() == EMITTERS.keys()


def _configurations(op: str) -> list[tuple[int, str]]:
    """Seeds, with a configuration for each."""
    first = SEEDS * list(REGIONS).index(op)
    return [(seed, CONFIGURATIONS[(first + seed) % len(CONFIGURATIONS)]) for seed in range(SEEDS)]


@pytest.mark.parametrize("op", REGIONS)
def test_emitters(op: str) -> None:
    proved = [prove(random_region(op, seed), npu) for seed, npu in _configurations(op)]
    assert sum(proved) >= SEEDS - 1, "most of the random calls are run"


@pytest.mark.parametrize("op", [op for op in INT16_REGIONS if not EMITTERS[op].not_int16])
def test_emitters_of_int16(op: str) -> None:
    proved = [prove(random_region(op, seed, INT16), npu) for seed, npu in _configurations(op)]
    assert sum(proved) >= SEEDS - 1, "most of the random calls are run"


def test_every_op_says_why_it_is_not_run_of_int16() -> None:
    for op in INT16_REGIONS:
        told = EMITTERS[op].not_int16
        (node,) = [n for n in random_region(op, 0, INT16).graph.nodes if dialect_op(n)]
        assert (reject(node, NPUS["ethos-u55-128"]) == f"its values are int16: {told}") == bool(
            told
        )


def test_what_is_run_of_int16_on_u85_only() -> None:
    for op in ("bmm", "transpose_conv2d"):
        assert prove(random_region(op, 0, INT16), "ethos-u85-256")


# Found among random calls: the first operand has the larger scale, and a multiplier of the second
# one nearby is right.
ADDS = [
    (33, 2066131066, -1, -118, 1731299533, -19),
    (-115, 1900170673, -3, -112, 1520370650, -18),
    (4, 1356834072, -2, 95, 1315361802, -18),
]


@pytest.mark.parametrize(("a_zero", "multiplier", "shift", "b_zero", "scale", "scale_shift"), ADDS)
def test_a_sum_is_rescaled_once(
    a_zero: int, multiplier: int, shift: int, b_zero: int, scale: int, scale_shift: int
) -> None:
    draw = Draw("add", 0)
    a, b = draw.input((1, 4), a_zero), draw.input((1, 4), b_zero)
    factors = (a_zero, 1 << 30, 0, b_zero, multiplier, shift, 20, 0, scale, scale_shift)
    region = draw.region("add", a, b, *factors, -128, 127, zero_point=0)
    names = operators(emitted(region, NPUS["ethos-u55-128"]).tosa)
    assert names == ["RESCALE", "RESCALE", "ADD", "RESCALE"]


@pytest.mark.parametrize(
    ("kernel", "stride", "before"), [(5, 4, 2), (4, 4, 1), (11, 4, 5), (2, 5, 0), (4, 4, 0)]
)
@pytest.mark.parametrize("kind", [INT8, INT16])
def test_max_pools_with_a_long_stride(
    kernel: int, stride: int, before: int, kind: QuantizedType
) -> None:
    draw, counts = Draw("max_pool2d", kernel, kind), [(16 + 2 * before - kernel) // stride + 1] * 2
    x = draw.input((2, 16, 16, 8), 0, NHWC)
    window = [kernel] * 2, [stride] * 2, [before] * 4, [1, 1], counts
    region = draw.region("max_pool2d", x, *window, zero_point=0, layout=NHWC)
    assert prove(region, "ethos-u55-128")


@pytest.mark.parametrize("shape", [(1, 300, 300), (2, 1, 70000)])
def test_means_of_more_values_than_channels(shape: tuple[int, ...]) -> None:
    draw = Draw("mean", 0)
    scale = quantize_mean(9.0, shape[1] * shape[2])
    region = draw.region("mean", draw.input(shape, 5), [1, 2], True, 5, 0, *scale, zero_point=0)
    assert operators(emitted(region, NPUS["ethos-u55-128"]).tosa).count("CONV2D") == 1
    assert prove(region, "ethos-u55-128")


def test_emitters_and_reasons_are_of_ops() -> None:
    of_the_cpu = {name for name in OPS if not name.startswith(ADOPTED)}
    assert EMITTERS.keys() | WHY_NOT.keys() <= of_the_cpu
    assert not EMITTERS.keys() & WHY_NOT.keys()


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_graphs(configuration: str) -> None:
    first = GRAPHS * CONFIGURATIONS.index(configuration)
    graphs = [random_graph(seed) for seed in range(first, first + GRAPHS)]
    assert sum(prove(graph, configuration) for graph in graphs) > 0


# op: (seed, resulting operators)
FORMS: dict[str, tuple[int, list[str]]] = {
    "add": (0, ["RESCALE", "RESCALE", "ADD", "RESCALE"]),
    "mul": (1, ["RESCALE", "RESCALE", "MUL", "RESCALE"]),
    "avg_pool2d": (0, ["AVG_POOL2D"]),
    "mean_pool2d": (0, ["DEPTHWISE_CONV2D", "RESCALE"]),
    "linear": (1, ["RESHAPE", "CONV2D", "RESCALE", "RESHAPE"]),
    "lut": (0, ["TABLE"]),
}


@pytest.mark.parametrize("op", FORMS)
def test_forms(op: str) -> None:
    seed, expected = FORMS[op]
    assert operators(emitted(random_region(op, seed), NPUS[CONFIGURATIONS[0]]).tosa) == expected


@pytest.mark.parametrize("configuration", ["ethos-u55-128", "ethos-u65-256"])
def test_limits_of_a_norm_over_rows(configuration: str) -> None:
    assert prove(random_region("normalize", 77007), configuration)


@pytest.mark.parametrize("op", ["normalize", "second_moment"])
def test_sums_of_halves(op: str) -> None:
    regions = [random_region(op, seed) for seed in range(4)]
    assert all(prove(region, "ethos-u85-256") for region in regions)
    forms = [operators(emitted(region, NPUS["ethos-u85-256"]).tosa) for region in regions]
    assert any("SLICE" in form for form in forms), "some are of rows"


def test_the_same_region_gives_the_same_bytes() -> None:
    first, second = (emitted(random_region("conv2d", 0), NPUS[CONFIGURATIONS[0]]) for _ in range(2))
    assert first == second


def test_tables_behind_transposes_are_not_for_the_smallest() -> None:
    draw = Draw("transposed", 0)
    source = draw.input((2, 3), 0)
    edge = edge_of(source)
    x = draw.builder.call(OPS["transpose"], source, [1, 0], edge=edge, origin=Origin())
    (node,) = (n for n in draw.region("lut", x, TABLE, zero_point=0).graph.nodes if calls(n, "lut"))
    refused = [name for name in CONFIGURATIONS if reject(node, NPUS[name])]
    assert refused == ["ethos-u55-32", "ethos-u55-64"]


def test_a_wait_that_vela_leaves_out_is_told_from_wrong_values() -> None:
    """A transfer overwrites data of a running kernel; a build cuts there."""
    with pytest.raises(MissingWaitError, match="OP_DMA_START, address, of a running kernel"):
        prove(random_region("conv2d", 117, INT16), "ethos-u55-128")


def test_reject_names_what_it_is() -> None:
    region = random_region("max_pool2d", 0)
    (node,) = [n for n in region.graph.nodes if dialect_op(n)]
    node.args = (*node.args[:4], [2, 1], *node.args[5:])
    expected = "its dilation is 2: TOSA's pools have none"
    assert reject(node, NPUS["ethos-u55-128"]) == expected
