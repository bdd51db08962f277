# SPDX-License-Identifier: Apache-2.0
"""Row groups: their memory needs, and the refusal of plans with less memory."""

import pytest

from aot.plan import emit_c
from aot.plan.check import At, CheckedMemory, Piece, PlanError, check_rows
from aot.plan.graph import build_graph
from aot.plan.plan import Plan, make_plan
from aot.plan.program import PlanProgram
from aot.plan.report import plan_json, plan_text
from aot.plan.row_group import RowGroup
from aot.plan.rows import Rows
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import added, depthwise, pointwise, scaled
from kernels.common.kernel import Isa

ISAS: tuple[Isa, ...] = ("scalar", "thumb1", "dsp", "mve")


def inverted_residual(stride: int = 1, size: int = 12) -> PlanProgram:
    """8 channels become 48, and 8 again."""
    calls = Calls()
    x = calls.input(1, size, size, 8)
    y = pointwise(calls, depthwise(calls, pointwise(calls, x, 48), stride), 8)
    return calls.program(added(calls, x, y) if stride == 1 else y)


def planned(program: PlanProgram, optimize: str = "memory", isa: Isa = "scalar") -> Plan:
    return make_plan(program, sample_board(isa=isa), optimize)


def group_of(plan: Plan) -> RowGroup:
    (group,) = (step.rows for step in plan.sharing.steps if step.rows is not None)
    return group


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(("stride", "slots"), [(1, (3, 1)), (2, (3, 1))])
def test_what_is_handed_on_lies_in_rings(isa: Isa, stride: int, slots: tuple[int, ...]) -> None:
    program = inverted_residual(stride)
    fast, small = (planned(program, optimize, isa) for optimize in ("speed", "memory"))
    group = group_of(small)
    assert group.slots[: len(slots)] == slots and group.slots[-1] == 0
    assert group.calls == sum(member.made for member in group.members)
    assert fast.arena_bytes > 12 * 12 * 48 > 3 * 12 * 48 < small.arena_bytes < fast.arena_bytes / 2


def test_the_fastest_plan_that_fits() -> None:
    program = inverted_residual()
    fast, small = planned(program, "speed"), planned(program)
    board = sample_board(arena=(small.arena_bytes,))
    assert make_plan(program, board).arena_bytes <= small.arena_bytes
    board = sample_board(arena=(fast.arena_bytes,))
    assert all(step.rows is None for step in make_plan(program, board).sharing.steps)


def test_rows_that_nobody_needs_are_not_made() -> None:
    """Every second row of a 1x1 convolution."""
    calls = Calls()
    x = pointwise(calls, calls.input(1, 12, 12, 8), 48)
    program = calls.program(depthwise(calls, x, stride=2, size=1))
    rows = Rows(build_graph(program, "scalar"))
    group = rows.group(0, 2)
    assert group is not None
    assert [member.made for member in group.members] == [11, 6]


def test_members_with_less_scratch() -> None:
    """Members become fallback calls if their scratch memory exceeds the need of the others."""
    fast = Rows(build_graph(inverted_residual(), "mve")).group(0, 3)
    assert fast is not None
    lean = fast.leanest
    assert [member.is_fallback for member in lean.members] == [False, True, False]
    assert lean.members[1].step.kernel.function == "pl_depthwise_direct_s8"
    assert fast.scratch - lean.scratch == fast.members[1].scratch == 16 * 3 * 14 + 64
    fresh = RowGroup(lean.members)
    assert lean.slots == fresh.slots
    assert [*map(vars, lean.overlap)] == [*map(vars, fresh.overlap)]


def pooled(*channels: int) -> PlanProgram:
    """Depthwise convolutions and the mean of all pixels."""
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    for count in channels:
        x = pointwise(calls, depthwise(calls, x), count)
    mean = calls.call(
        "pl::mean",
        (1, 1, 1, channels[-1]),
        input=x,
        dim=[1, 2],
        keepdim=True,
        input_zero_point=3,
        output_zero_point=-5,
        multiplier=2**30,
        shift=-6,
    )
    return calls.program(pointwise(calls, mean, 4))


def test_a_mean_grows_with_each_row() -> None:
    program = pooled(16, 24)
    plan = planned(program)
    assert plan.arena_bytes < 12 * 12 * 8 + 12 * 12 * 16
    assert "dims.row = (int32_t)row->index;" in emit_c.source(plan, "net", "net.h")
    group = Rows(build_graph(program, "scalar")).group(0, 5)
    assert group is not None
    assert (group.members[-1].keeps, group.slots[-1], group.members[-1].made) == (4 * 24, 0, 12)
    x, mean = program.inputs[0].value, group.members[-1].output
    (over,) = group.overlap
    assert over.distance == -x.bytes, "it is written when all rows of the input have been read"

    def proved(made: RowGroup, at: int) -> None:
        places = {x.name: At("ram", 10000), mean.name: At("ram", at)}
        memory = CheckedMemory()
        memory.write(places[x.name], x.name, x.bytes)
        values = (x, *(member.output for member in made.members))
        pieces = {value.name: [(value.name, 0, value.bytes)] for value in values}
        check_rows(made, memory, pieces, places.__getitem__, At("other", 0))
        assert memory.holds(places[mean.name], pieces[mean.name])

    proved(group, 10000)
    nearer = RowGroup(group.members)
    own, rings = group.ring_offsets[-1], group.ring_offsets[:-1]
    # The sums begin in the last bytes of the ring before them, or end in the next one.
    by = -16 if own > 0 else 16
    vars(nearer).update(_places=((*rings, own + by), group.scratch_offsets, group.scratch))
    with pytest.raises(PlanError, match="does not find its"):
        proved(nearer, 0)


def test_a_tensor_that_is_read_twice() -> None:
    """Its result aliases it at the larger of both alias distances."""
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    program = calls.program(added(calls, x, depthwise(calls, pointwise(calls, x, 8))))
    plan = planned(program)
    if all(step.rows is None for step in plan.sharing.steps):
        raise AssertionError("no groups")
    assert plan.arena_bytes < 2 * 12 * 12 * 8


def test_state_and_what_has_no_rows_are_no_members() -> None:
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    y = calls.call("pl::reshape", (1, 144, 8), input=pointwise(calls, x, 8), shape=[1, 144, 8])
    graph = build_graph(
        calls.program(pointwise(calls, calls.reshape(y, 1, 12, 12, 8), 8)), "scalar"
    )
    assert Rows(graph).group(0, 2) is not None, "the bytes are the same rows"
    calls = Calls()
    y = calls.reshape(pointwise(calls, calls.input(1, 12, 12, 8), 8), 1, 6, 24, 8)
    graph = build_graph(calls.program(pointwise(calls, y, 8)), "scalar")
    assert Rows(graph).group(0, 2) is None, "others are not"


@pytest.mark.parametrize(("stride", "streamed"), [(1, False), (2, False), (2, True)])
def test_a_ring_that_is_a_row_short_is_refused(stride: int, streamed: bool) -> None:
    plan = make_plan(inverted_residual(stride), sample_board(), "memory", streamed)
    group = next(step.rows for step in plan.sharing.steps if step.rows is not None)
    run(plan, group)
    short = RowGroup(group.members)
    most = group.slots.index(3)
    vars(short)["slots"] = (*group.slots[:most], 2, *group.slots[most + 1 :])
    vars(short)["_places"] = group._places
    with pytest.raises(PlanError, match="has no room for row|does not find its rows"):
        run(plan, short)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [4, 8, 24])
def test_the_distance_is_the_least(isa: Isa, stride: int, channels: int) -> None:
    """A distance one byte smaller would overwrite a row before its last use."""
    calls = Calls()
    x = calls.input(1, 9, 10, 8)
    y = pointwise(calls, depthwise(calls, pointwise(calls, x, 16), stride), channels)
    group = Rows(build_graph(calls.program(y), isa)).group(0, 3)
    assert group is not None
    (over,) = group.overlap
    assert (over.source, over.result) == (x.name, y.name)
    pieces: dict[str, list[Piece]] = {
        value.name: [(value.name, 0, value.bytes)]
        for value in (x, *(member.output for member in group.members))
    }
    for nearer in (0, 1):
        memory = CheckedMemory()
        places = {x.name: At("ram", 10000), y.name: At("ram", 10000 - over.distance + nearer)}
        memory.write(places[x.name], x.name, x.bytes)
        scratch = At("other", 0)
        if nearer:
            with pytest.raises(PlanError, match="does not find its rows|is not where"):
                check_rows(group, memory, pieces, places.__getitem__, scratch)
        else:
            check_rows(group, memory, pieces, places.__getitem__, scratch)
            assert memory.holds(places[y.name], pieces[y.name])


def run(plan: Plan, group: RowGroup) -> None:
    """The proof of a group at the addresses of a plan."""
    step = next(i for i, s in enumerate(plan.sharing.steps, 1) if s.rows is not None)
    memory = CheckedMemory()
    pieces: dict[str, list[Piece]] = {}
    for value in plan.graph.inputs:
        memory.write(plan.address(value.name), value.name, value.bytes)
    for name, value in plan.graph.activations.items():
        pieces[name] = [(name, 0, value.bytes)]
    check_rows(group, memory, pieces, plan.address, plan.scratch(step))


def test_what_is_said() -> None:
    plan = planned(inverted_residual())
    text = plan_text(plan, "net")
    assert "(ring of 3 rows)" in text and "by rows: " in text
    (step,) = (step for step in plan_json(plan, "net")["steps"] if "rows" in step)
    assert [member["ring_rows"] for member in step["rows"]["members"]][0] == 3
    assert plan_json(plan, "net")["without_step"] == []


def test_plans_without_groups_have_nothing_of_them() -> None:
    text = emit_c.source(planned(inverted_residual(), "speed"), "net", "net.h")
    assert "rows.h" not in text and "pl_row" not in text
    with_groups = emit_c.source(planned(inverted_residual()), "net", "net.h")
    assert '#include "firmware/runtime/rows.h"' in with_groups


@pytest.mark.parametrize("isa", ISAS)
def test_images_of_a_batch_go_one_by_one(isa: Isa) -> None:
    calls = Calls()
    x = calls.input(3, 6, 6, 8)
    graph = build_graph(calls.program(depthwise(calls, pointwise(calls, x, 8))), isa)
    group = Rows(graph).group(0, 2)
    assert group is not None
    assert [member.made for member in group.members] == [3, 3]
    assert (group.slots, group.members[0].row_bytes) == ((1, 0), 6 * 6 * 8)


def test_rings_that_are_never_in_use_together_share_bytes() -> None:
    """A row from a depthwise convolution is read at once."""
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    for _ in range(4):
        x = pointwise(calls, depthwise(calls, x), 8)
    graph = build_graph(calls.program(x), "scalar")
    group = Rows(graph).group(0, 8)
    assert group is not None
    assert group.slots == (1, 3, 1, 3, 1, 3, 1, 0)
    assert len({group.ring_offsets[i] for i in (0, 2, 4, 6)}) == 1
    shared = RowGroup(group.members)
    rings = (*group.ring_offsets[:1], group.ring_offsets[0], *group.ring_offsets[2:])
    vars(shared)["_places"] = (rings, group.scratch_offsets, group.scratch)
    memory = CheckedMemory()
    source, result = graph.inputs[0], group.members[-1].output
    places = {source.name: At("ram", 0), result.name: At("ram", 10000)}
    memory.write(places[source.name], source.name, source.bytes)
    values = (source, *(member.output for member in group.members))
    pieces = {value.name: [(value.name, 0, value.bytes)] for value in values}
    with pytest.raises(PlanError, match="does not find its rows"):
        check_rows(shared, memory, pieces, places.__getitem__, At("other", 0))


def proved_apart(group: RowGroup, over: tuple[str, str] | None = None) -> None:
    """Prove a group with all outer tensors in separate places.

    Two names in `over` are the exception: the first lies at the place of the second.
    """
    memory = CheckedMemory()
    values = (*group.step.reads, *group.step.writes)
    places = {value.name: At("ram", 10000 * i) for i, value in enumerate(values)}
    if over is not None:
        places[over[0]] = places[over[1]]
    for value in group.step.reads:
        memory.write(places[value.name], value.name, value.bytes)
    inner = [member.output for member in group.members]
    pieces = {value.name: [(value.name, 0, value.bytes)] for value in (*values, *inner)}
    check_rows(group, memory, pieces, places.__getitem__, At("other", 0))


def test_a_row_over_the_scratch_memory_of_its_call_is_refused() -> None:
    group = Rows(build_graph(inverted_residual(), "mve")).group(0, 3)
    assert group is not None and group.members[1].scratch
    proved_apart(group)
    spoiled = RowGroup(group.members)
    own = (group.scratch_offsets[0], group.ring_offsets[1], group.scratch_offsets[2])
    vars(spoiled)["_places"] = (group.ring_offsets, own, group.scratch)
    with pytest.raises(PlanError, match="lies over its scratch memory"):
        proved_apart(spoiled)


def test_a_row_over_what_all_rows_read_is_refused() -> None:
    calls = Calls()
    x, factors = calls.input(1, 12, 12, 8), calls.input(1, 1, 1, 48)
    wide = scaled(calls, pointwise(calls, x, 48), factors)
    y = pointwise(calls, depthwise(calls, wide), 8)
    group = Rows(build_graph(calls.program(y), "scalar")).group(0, 4)
    assert group is not None
    proved_apart(group)
    with pytest.raises(PlanError, match=f"does not find all of {factors.name}"):
        proved_apart(group, over=(y.name, factors.name))
