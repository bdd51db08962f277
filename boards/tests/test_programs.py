# SPDX-License-Identifier: Apache-2.0
"""The boards' start-up code, the runner and the counting of instructions, on one board (PL_BOARD).

Each program of boards/tests/programs ends in its own way; the runner has to report it correctly.
"""

import os
import subprocess
from pathlib import Path

import pytest

from boards.board import load_board
from tools.image.stack_bound import handlers_bound, stack_bound
from tools.simulator.counts import Region, by_function
from tools.simulator.elf import Elf
from tools.simulator.fault import Fault, find_fault
from tools.simulator.simulate import Run, SimulatorError, Tools, qemu_command, simulate

_NAME = os.environ["PL_BOARD"]
_BOARD = load_board(Path(f"boards/{_NAME}/{_NAME}.json"))
_OBJDUMP = Path("../arm_gnu_toolchain/bin/arm-none-eabi-objdump")
_HAS_ONLY_HARD_FAULT = _BOARD.core in ("cortex-m0", "cortex-m0plus")

# Counting instructions does not change the report of a bad end.
_counted_or_not = pytest.mark.parametrize("count", [False, True])

# Instructions of a loop turn in boards/tests/programs/counted.c.
_EACH_TURN = 2
_RETURN = 1


def _elf(program: str) -> Path:
    return Path(f"boards/tests/{program}.{_NAME}.elf")


def _run(program: str, *, count: bool = False) -> Run:
    return simulate(_elf(program), _BOARD, time_limit=120, count=count)


def _fault_of(run: Run) -> Fault:
    fault = find_fault(run.console)
    assert fault is not None
    return fault


def test_a_good_end() -> None:
    run = _run("hello")
    assert run.problem == ""
    assert run.exit_status == 0
    assert run.stats == {"answers": 42}
    assert run.console.splitlines() == [
        "0 4294967295 -2147483648 -1",
        "0x0123cdef -12.34 0.005 2.147483647",
        "PL:STAT answers 42",
        "PL:PASS",
    ]


def test_memories_are_where_the_data_of_the_board_say() -> None:
    assert _run("memory").problem == ""


@_counted_or_not
@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("status", "exit status 7"),
        ("silent", "the last line is not PL:PASS; the console ended with:\n  (nothing)"),
        (
            "not_last",
            "the last line is not PL:PASS; the console ended with:\n  PL:PASS\n  one more",
        ),
        ("fail", "PL:FAIL seven is not eight"),
    ],
)
def test_an_end_that_is_not_good(program: str, problem: str, count: bool) -> None:
    run = _run(program, count=count)
    assert run.problem.startswith(problem)
    assert run.counts is None


@_counted_or_not
def test_a_fault_is_explained_with_its_place_in_the_source(count: bool) -> None:
    run = _run("fault", count=count)
    assert run.console.startswith("before\n")
    assert _fault_of(run).name == ("HardFault" if _HAS_ONLY_HARD_FAULT else "UsageFault")
    first, place, caller, *_ = run.problem.splitlines()
    assert _HAS_ONLY_HARD_FAULT or first == "UsageFault: undefined instruction"
    assert "deliberate_fault+0x0 (boards/tests/programs/fault.c:7)" in place
    assert "main+" in caller and "fault.c:12)" in caller


def test_a_fault_in_a_thread_has_its_place() -> None:
    first, place, caller, stack = _run("thread_faults").problem.splitlines()
    assert "stack" not in first
    assert "in_a_thread+0x0 (boards/tests/programs/thread.c:18)" in place
    assert "main+" in caller
    assert "a thread's, not of" in stack


def test_a_thread_that_ends_the_program_where_nobody_listens() -> None:
    assert _run("thread_leaves").problem == ""
    command = qemu_command(_elf("thread_leaves"), _BOARD, Tools.of_build())
    command = [part.replace("enable=on", "enable=off") for part in command]
    with pytest.raises(subprocess.TimeoutExpired) as sleeps:
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=3)
    assert sleeps.value.stdout == b"PL:PASS\n"


def test_interrupts() -> None:
    assert _run("irq").problem == ""


def test_an_interrupt_without_handler_is_explained() -> None:
    text = "IRQ0: the program has no handler for it (boards/common/irq.h)"
    assert _run("unhandled").problem.splitlines()[0] == text


@_counted_or_not
def test_a_core_that_locks_up(count: bool) -> None:
    run = _run("lockup", count=count)
    assert run.problem.startswith("lockup")
    assert run.exit_status not in (0, None)


@_counted_or_not
@pytest.mark.parametrize("program", ["recursion", "canary"])
def test_a_stack_that_overflows(program: str, count: bool) -> None:
    run = _run(program, count=count)
    assert "the stack overflowed" in run.problem.splitlines()[0]
    assert run.exit_status == 125


def test_the_bound_of_the_stack_holds_and_is_close() -> None:
    elf = Elf(_elf("deep"))
    bound = stack_bound(elf, _OBJDUMP, "pl_start")
    run = _run("deep")
    assert run.problem == ""
    assert bound.bytes is not None
    assert "large" in bound.path
    # The measurement uses some stack of its own, above the painted part, and stops at whole words.
    assert run.stats["stack"] - 64 <= bound.bytes <= run.stats["stack"] + 32
    assert run.stats["stack"] > 600


def test_what_pointers_lead_to_and_calls_through_them_counts_once() -> None:
    bound = stack_bound(Elf(_elf("engines")), _OBJDUMP, "pl_start")
    run = _run("engines")
    assert run.problem == ""
    assert bound.bytes is not None
    assert (bound.path[-2:], bound.once) == (("device", "memset"), ("step",))
    assert run.stats["stack"] - 64 <= bound.bytes <= run.stats["stack"] + 32
    assert run.stats["stack"] > 600


def test_handlers_may_all_interrupt_each_other() -> None:
    assert _BOARD.timer is not None
    names = ("PendSV", "SVC", _BOARD.timer.handler, max(_BOARD.irqs, key=_BOARD.irqs.__getitem__))
    handlers = [f"{name}_{'IRQ' * (name in _BOARD.irqs)}Handler" for name in names]
    elf = Elf(_elf("irq"))
    bound = handlers_bound(elf, _OBJDUMP, "pl_fault", 100)
    alone = [stack_bound(elf, _OBJDUMP, name).bytes or 0 for name in (*handlers, "pl_fault")]
    assert bound.bytes == sum(alone) + 100 * len(handlers)
    assert set(handlers) < set(bound.path)
    hello = Elf(_elf("hello"))
    assert handlers_bound(hello, _OBJDUMP, "pl_fault", 100) == stack_bound(
        hello, _OBJDUMP, "pl_fault"
    )


def test_recursion_has_no_bound() -> None:
    bound = stack_bound(Elf(_elf("recursion")), _OBJDUMP, "pl_start")
    assert bound.bytes is None
    assert (bound.problem, bound.path) == ("recursion", ("deeper", "deeper"))


def test_counts_are_exact() -> None:
    counts = _run("counted", count=True).counts
    assert counts is not None
    assert {number: region.entries for number, region in counts.regions.items()} == {
        1: 2,
        2: 2,
        3: 1,
        5: 1,
        7: 1,
    }

    # Instructions around the loop, i.e. the end call, are the same in both regions.
    around = counts.regions[1].instructions - 2 * (1000 * _EACH_TURN + _RETURN)
    assert 0 < around <= 2 * 8
    assert counts.regions[2].instructions == 2 * (3000 * _EACH_TURN + _RETURN) + around

    elf = Elf(_elf("counted"))
    assert by_function(counts.regions[1].at, elf)["loop"] == 2 * (1000 * _EACH_TURN + _RETURN)
    assert by_function(counts.regions[7].at, elf)["loop"] == 10 * _EACH_TURN + _RETURN
    assert by_function(counts.outside, elf)["loop"] == 50 * _EACH_TURN + _RETURN
    assert by_function(counts.at(), elf)["loop"] == 8380 * _EACH_TURN + 9 * _RETURN

    # The outer region has all of the inner one.
    inner = counts.regions[2].instructions // 2
    assert counts.regions[7].instructions > inner + 10 * _EACH_TURN
    assert counts.total == counts.at().total()


def test_steps_of_plans_count_apart() -> None:
    counts = _run("counted", count=True).counts
    assert counts is not None
    elf = Elf(_elf("counted"))

    def turns(region: Region) -> int:
        return (by_function(region.at, elf)["loop"] - _RETURN) // _EACH_TURN

    assert turns(counts.regions[3]) == 20 and counts.regions[5].entries == 1
    outer, inner = counts.plans.values()
    assert {number: region.entries for number, region in outer.items()} == {1: 1, 2: 1}
    assert turns(outer[2]) == 200
    assert {number: (region.entries, turns(region)) for number, region in inner.items()} == {
        1: (1, 100)
    }
    assert outer[1].instructions > inner[1].instructions + counts.regions[3].instructions


def test_counts_are_the_same_in_every_run() -> None:
    assert _run("counted", count=True).counts == _run("counted", count=True).counts


def test_without_qemu_it_says_what_to_do() -> None:
    with pytest.raises(SimulatorError, match="QEMU is missing; start this program with Bazel"):
        simulate(_elf("hello"), _BOARD, tools=Tools())
    with pytest.raises(SimulatorError, match="/nowhere/qemu does not start"):
        simulate(_elf("hello"), _BOARD, tools=Tools(qemu=Path("/nowhere/qemu")))
