# SPDX-License-Identifier: Apache-2.0
import pytest

from tools.simulator.fault import Fault, find_fault, find_lockup

_LINE = "PL:FAULT UsageFault pc=0x00000076 lr=0x00000073 sp=0x20000fd0 xpsr=0x61000000"


def test_a_fault_in_the_console() -> None:
    fault = find_fault(f"text\n\n{_LINE} cfsr=0x00010000\nmore\n")
    assert fault is not None
    assert fault.name == "UsageFault"
    assert fault.registers == {
        "pc": 0x76,
        "lr": 0x73,
        "sp": 0x20000FD0,
        "xpsr": 0x61000000,
        "cfsr": 0x10000,
    }


def test_the_first_fault_counts() -> None:
    fault = find_fault(f"PL:FAULT StackOverflow\n{_LINE}\n")
    assert fault == Fault("StackOverflow", {})


@pytest.mark.parametrize("console", ["", "PL:FAULT\n", f"x{_LINE}\n", f"{_LINE} cfsr=0x1\n"])
def test_what_is_no_fault(console: str) -> None:
    assert find_fault(console) is None


@pytest.mark.parametrize(
    ("cfsr", "causes"),
    [
        (0, []),
        (1 << 0, ["instruction fetch from memory without access"]),
        (1 << 1 | 1 << 7, ["data access to memory without access", "at address 0x00000011"]),
        (1 << 9 | 1 << 15, ["data access failed on the bus", "at address 0x00000022"]),
        (1 << 24, ["unaligned access"]),
        (1 << 16 | 1 << 25, ["undefined instruction", "division by zero"]),
    ],
)
def test_causes(cfsr: int, causes: list[str]) -> None:
    assert Fault("BusFault", {"cfsr": cfsr, "mmfar": 0x11, "bfar": 0x22}).causes() == causes


def test_a_lockup_in_the_messages_of_qemu() -> None:
    messages = (
        "qemu: fatal: Lockup: can't escalate 3 to HardFault (current priority -1)\n\n"
        "R00=0000006e R01=00000850 R02=0000006e R03=3a4c500a\n"
        "R12=ffffffff R13=200001b0 R14=0000012f R15=000006c4\n"
    )
    fault = find_lockup(messages)
    assert fault == Fault("lockup", {"sp": 0x200001B0, "lr": 0x12F, "pc": 0x6C4})
    assert find_lockup("qemu: something else R13=200001b0") is None


@pytest.mark.parametrize(
    ("name", "unhandled"), [("SysTick", True), ("IRQ28", True), ("IRQ", False)]
)
def test_an_interrupt_without_handler(name: str, unhandled: bool) -> None:
    assert any("no handler" in cause for cause in Fault(name, {}).causes()) == unhandled
