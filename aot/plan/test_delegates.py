# SPDX-License-Identifier: Apache-2.0
"""Steps on an engine: their memory meets the payload's needs and is reachable by the engine, with
proof.
"""

from dataclasses import replace
from typing import Any

import pytest

from aot.plan.check import PlanError
from aot.plan.delegates import ENGINES
from aot.plan.emit_c import may_share, source
from aot.plan.graph import build_graph
from aot.plan.layout import scratch_name
from aot.plan.plan import DoesNotFitError, make_plan
from aot.plan.report import does_not_fit_text, plan_json
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Address, Calls, check, plan, select
from boards.board import Board, Engine
from kernels.common.kernel import KernelError, Value

ANY = Engine("Test")


def two_delegates(
    alignment: int = 64, configuration: str = "", cache: int = 0
) -> tuple[Calls, tuple[Value, ...]]:
    """Two inputs into the first, its two results and an input into the second."""
    calls = Calls()
    x, y = calls.input(3, 5), calls.input(7)
    given: Any = {"alignment": alignment, "configuration": configuration}
    a, b = calls.delegate([x, y], [4, 5], [9], scratch=100, cache=cache, **given)
    (c,) = calls.delegate([a, b, x], [2, 3], **given)
    return calls, (a, c)


def board(*engines: Engine, arena: tuple[int, ...] = (4096, 8192)) -> Board:
    return sample_board(arena=arena, engines=engines)


@pytest.mark.parametrize("alignment", [1, 16, 64, 256])
def test_tensors_scratch_and_payload_are_aligned(alignment: int) -> None:
    calls, outputs = two_delegates(alignment)
    made = make_plan(calls.program(*outputs), board(ANY))
    for name in ("value 1", "value 2", *(v.name for v in outputs)):
        assert made.address(name).offset % alignment == 0
    assert made.scratch(1).offset % alignment == 0
    assert made.pools[0].alignment == max(alignment, 16)
    text = source(made, "net", "net.h")
    assert f"_Alignas({max(alignment, 16)}) uint8_t arena_ram0[" in text
    assert f"_Alignas({max(alignment, 4)}) int8_t constant_0[9]" in text


def test_steps_call_the_runtime_and_share_what_it_keeps() -> None:
    calls, outputs = two_delegates()
    text = source(make_plan(calls.program(*outputs), board(ANY)), "net", "net.h")
    assert text.count("{pl_delegate_step, {") == 2
    assert "run_pl_delegate_step" not in text
    assert '#include "firmware/runtime/delegate.h"' in text
    assert '.backend = "Test", .configuration = "", ' in text
    slots = {line.split(".engines = ")[1] for line in text.splitlines() if ".engines" in line}
    assert slots == {f"&{ENGINES.name}}};"}
    assert text.count(f"static pl_engines {ENGINES.name};") == 1
    assert ".input_count = 3, .output_count = 1," in " ".join(text.split())


def test_a_plan_without_delegates_keeps_nothing_for_them() -> None:
    calls = Calls()
    program = calls.program(calls.transpose(calls.input(4, 8), 1, 0))
    assert "engines" not in source(make_plan(program, sample_board()), "net", "net.h")


@pytest.mark.parametrize("share", [False, True])
def test_what_is_kept_does_not_lie_in_an_arena_that_may_be_shared(share: bool) -> None:
    calls, outputs = two_delegates()
    made = make_plan(calls.program(*outputs), board(ANY))
    text = source(made, "net", "net.h", share=share)
    assert ("pl_shared_arena[" in text) == (".shares_arena = 1" in text) == share


@pytest.mark.parametrize("scratch", ["ram1", "ram2"])
def test_plans_share_the_arena_that_the_engine_works_in(scratch: str) -> None:
    engine = Engine("Test", "", ("flash", "ram1", "ram2"), scratch=scratch)
    on = board(engine, arena=(4096, 4096, 4096))
    assert on.shared_arena == scratch
    calls, outputs = two_delegates()
    z = calls.transpose(outputs[1], 1, 0)
    text = source(make_plan(calls.program(outputs[0], z), on), "net", "net.h", share=True)
    assert "uint8_t pl_shared_arena[" in text and f"arena_{scratch}[" not in text
    assert "uint8_t arena_ram0[" in text
    # A plan without memory in the shared arena can run at the same time as the others.
    core = Calls()
    made = make_plan(core.program(core.transpose(core.input(4, 8), 1, 0)), on)
    assert "pl_shared" not in source(made, "net", "net.h", share=True)


def test_an_output_for_another_model_lies_where_models_share() -> None:
    """This also holds for a model without delegates, whose best memory is another one."""
    engine = Engine("Test", "", ("flash", "ram1"), scratch="ram1")
    on = board(engine, arena=(4096, 4096, 4096))
    core = Calls()
    program = core.program(core.transpose(core.input(4, 8), 1, 0))
    apart, left = make_plan(program, on), make_plan(program, on, hands_over=True)
    assert (apart.address(program.outputs[0].value.name).pool, may_share(apart)) == ("ram0", False)
    assert (left.address(program.outputs[0].value.name).pool, may_share(left)) == ("ram1", True)
    assert left.address(program.inputs[0].value.name).pool == "ram0"
    calls, outputs = two_delegates()
    elsewhere = board(Engine("Test", "", ("flash", "ram2"), scratch=""), arena=(4096, 64, 4096))
    program = calls.program(*outputs)
    made = make_plan(program, elsewhere, hands_over=True)
    assert made.address(program.outputs[0].value.name).pool == elsewhere.shared_arena == "ram2"


def test_a_piece_that_is_not_aligned_is_copied() -> None:
    for start, steps in ((0, 1), (1, 2), (2, 1)):
        calls = Calls()
        piece = calls.reshape(calls.slice(calls.input(4, 8), 0, start, start + 2), 16)
        (y,) = calls.delegate([piece], [3], alignment=16)
        _, sharing = plan(calls.program(y))
        assert len(sharing.steps) == steps


@pytest.mark.parametrize("rows, joined", [(8, True), (3, False)])
def test_a_concatenation_is_joined_only_where_its_parts_are_aligned(
    rows: int, joined: bool
) -> None:
    calls = Calls()
    x = calls.input(rows, 8)
    (a,) = calls.delegate([x], [rows, 8], alignment=64)
    (b,) = calls.delegate([x], [rows, 8], alignment=64)
    _, sharing = plan(calls.program(calls.cat(a, b)))
    assert len(sharing.steps) == (2 if joined else 3)


def test_memory_is_where_the_engine_reaches_it() -> None:
    calls, outputs = two_delegates()
    z = calls.transpose(outputs[1], 1, 0)
    engine = Engine("Test", "", ("flash", "ram1", "ram2"), scratch="ram2")
    made = make_plan(calls.program(outputs[0], z), board(engine, arena=(4096, 4096, 4096)))
    assert {made.address(f"value {i}").pool for i in (1, 2, 3, 4, 5)} == {"ram1"}
    assert made.address(z.name).pool == "ram0"
    assert made.scratch(1).pool == "ram2"


def test_others_leave_the_memory_that_an_engine_reaches() -> None:
    """There are two tensors of 512 bytes; one of them fits next to the delegate's two,
    fixed there.
    """
    calls = Calls()
    hot = calls.transpose(calls.input(16, 32), 1, 0)
    (y,) = calls.delegate([calls.input(256)], [256])
    engine = Engine("Test", "", ("flash", "ram0"))
    made = make_plan(calls.program(hot, y), board(engine, arena=(1024, 4096)))
    assert made.address(y.name).pool == "ram0"
    assert "ram1" in {made.address(f"value {i}").pool for i in (1, 2)}


def test_memory_that_an_engine_reaches_is_too_small() -> None:
    calls, outputs = two_delegates()
    target = board(Engine("Test", "", ("flash", "ram0")), arena=(128, 4096))
    with pytest.raises(DoesNotFitError) as error:
        make_plan(calls.program(*outputs), target)
    text = does_not_fit_text(error.value, "net", target)
    assert "activations and scratch memory are too large for ram0." in text
    assert "have       128 bytes" in text


@pytest.mark.parametrize(
    "engines, message",
    [
        ([], r"board sample has no engine for Test \(it has: none\): lower the model for another"),
        ([Engine("Other")], r"no engine for Test \(it has: Other\)"),
        (
            [Engine("Test", "test-256")],
            "payload is for test-128, but the board sample has test-256",
        ),
        (
            [Engine("Test", "test-128", cache_bytes=512)],
            "is made for a cache of 1024 bytes, its engine on the board sample has 512",
        ),
        (
            [Engine("Test", "", ("ram0",))],
            "payload would lie in flash, .* but its engine reaches ram0 only",
        ),
        (
            [Engine("Test", "", ("flash",))],
            "reaches flash, .* but the board's `arena` is ram0, ram1",
        ),
        (
            [Engine("Test", "", ("flash", "ram0"), "ram1")],
            "scratch memory in ram1, but the board's `arena` is ram0, ram1",
        ),
    ],
)
def test_a_board_without_the_right_engine(engines: list[Engine], message: str) -> None:
    calls, outputs = two_delegates(configuration="test-128", cache=1024)
    with pytest.raises(KernelError, match=message) as error:
        make_plan(calls.program(*outputs), board(*engines))
    assert "delegate::Test -> 'value 3', 'value 4'" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "engines",
    [
        [Engine("Test", "test-128", cache_bytes=1024)],
        [ANY],
        [Engine("Test", "test-256"), Engine("Test", "test-128", cache_bytes=2048)],
        [Engine("Test", "", ("flash", "ram1"))],
    ],
)
def test_a_board_with_the_right_engine(engines: list[Engine]) -> None:
    calls, outputs = two_delegates(configuration="test-128", cache=1024)
    make_plan(calls.program(*outputs), board(*engines))


def test_the_report_has_a_row_for_each() -> None:
    calls, outputs = two_delegates(configuration="test-128", cache=1024)
    steps = plan_json(make_plan(calls.program(*outputs), board(ANY)), "net")["steps"]
    assert [step["op"] for step in steps] == ["delegate::Test"] * 2
    assert steps[0]["delegate"] == {
        "backend": "Test",
        "configuration": "test-128",
        "payload": 9,
        "alignment": 64,
    }
    assert [step["scratch"] for step in steps] == [100, 0]
    assert [step["constants"] for step in steps] == [9, 9]
    assert steps[0]["inputs"] == ["value 1 [3, 5] int8", "value 2 [7] int8"]


MUTANTS = (
    "moved by a byte",
    "beyond reach",
    "on another input",
    "scratch on an input",
    "scratch moved by a byte",
)


@pytest.mark.parametrize("kind", MUTANTS)
def test_the_proof_finds_wrong_places(kind: str) -> None:
    calls, outputs = two_delegates()
    graph, sharing = plan(calls.program(*outputs))

    def spoil(places: dict[str, Address]) -> None:
        first, second = (f"value {i}" for i in (1, 2))
        scratch = scratch_name(1)
        far = Address("ram", 1 << 20)
        places |= {
            "moved by a byte": {second: replace(far, offset=far.offset + 1)},
            "beyond reach": {second: replace(far, pool="other")},
            "on another input": {second: places[first]},
            "scratch on an input": {scratch: places[first]},
            "scratch moved by a byte": {scratch: replace(far, offset=far.offset + 1)},
        }[kind]

    check(graph, sharing, lambda _: None)
    with pytest.raises(PlanError):
        check(graph, sharing, spoil)


def test_the_proof_knows_what_an_engine_reaches() -> None:
    graph, sharing = plan(two_delegates()[0].program(*two_delegates()[1]))
    with pytest.raises(PlanError, match="beyond the reach of the engine of step 1"):
        check(graph, sharing, reach="other")


def test_a_constant_that_a_delegate_reads_is_aligned() -> None:
    import numpy as np

    calls = Calls()
    weights = Value("weights", "int8", (2, 4), np.arange(8, dtype=np.int8).reshape(2, 4))
    flat = calls.reshape(weights, 8)
    (y,) = calls.delegate([calls.input(8), flat], [8], alignment=32)
    program = calls.program(y)
    assert len(build_graph(program, "scalar", select).steps) == 1
    text = source(make_plan(program, board(ANY)), "net", "net.h")
    assert "_Alignas(32) int8_t constant_0[" in text
    assert "_Alignas(32) int8_t constant_1[8]" in text
