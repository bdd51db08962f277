# SPDX-License-Identifier: Apache-2.0
"""Board data for Python: reads the board.json written by the rule `board`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


class BoardError(Exception):
    """Error: a board's data are contradictory. The message gives the board and the
    contradiction.
    """


@dataclass(frozen=True)
class Memory:
    """A range of addresses. `flash` keeps the image, and is written by so many bytes at least;
    `ram` starts with undefined contents.
    """

    name: str
    base: int
    size: int
    kind: Literal["flash", "ram"]
    write: int = 4


@dataclass(frozen=True)
class Pool:
    """Bytes of a memory available to activations and scratch."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Console:
    """Settings for the console's UART driver (boards/common/link_symbols.h).

    Attributes:
        rx_pin: -1 if the UART receives nothing because it has no pin; 0 if no pin needs
            to be chosen.
        kind: destination of this image's text, if it is not "uart".
    """

    base: int = 0
    baud: int = 0
    pin: int = 0
    rx_pin: int = -1
    kind: Literal["uart", "rtt", "semihosting"] = "uart"


@dataclass(frozen=True)
class Write:
    """A register access before the program starts.

    It replaces the bits `clear` by those of `set`. With `wait` it reads the register until they
    have that value.
    """

    address: int
    clear: int
    set: int
    wait: bool


@dataclass(frozen=True)
class Timer:
    """The periodic timer: its registers, its clock, the name of its interrupt."""

    base: int
    clock_hz: int
    handler: str


@dataclass(frozen=True)
class AxiLimit:
    """Memory use of an NPU: bytes of a burst, AXI memory type, transfers at once."""

    burst_bytes: int
    memory_type: int
    outstanding_reads: int
    outstanding_writes: int


@dataclass(frozen=True)
class BoardNpu:
    """An Ethos-U NPU: its configuration, unreachable memories, register address and interrupt.

    The other fields are Vela's memory mode, the memory for its scratch, and the memory and size of
    the Dedicated_Sram cache.

    `simulated`: a functional model replaces a missing NPU.
    """

    configuration: str
    out_of_reach: tuple[str, ...]
    base: int
    irq: int
    memory_mode: Literal["Sram_Only", "Shared_Sram", "Dedicated_Sram"]
    scratch: str
    axi_limits: tuple[AxiLimit, ...]
    simulated: bool
    fast_memory: str = ""
    fast_bytes: int = 0


@dataclass(frozen=True)
class Engine:
    """Engine running the delegates of a backend.

    Attributes:
        backend: its id in a .pte, e.g. "EthosUBackend".
        configuration: e.g. "ethos-u55-128"; "" if it takes any payload.
        memories: reachable memories; all if the list is empty.
        scratch: the one of them for its scratch memory; "" for any.
        cache_bytes: of its own memory required by payloads, such as an Ethos-U65's
            cache.
    """

    backend: str
    configuration: str = ""
    memories: tuple[str, ...] = ()
    scratch: str = ""
    cache_bytes: int = 0


@dataclass(frozen=True)
class Simulator:
    """Simulator for the board's images: `qemu` with a machine's name, or `native` for the host.

    Attributes:
        serial: the machine's serial port for the console.
        vectors: address of the vector table, None if it is at the core's default.
        properties: of the machine's devices, by name.
    """

    kind: Literal["qemu", "native"]
    machine: str = ""
    serial: int = 0
    vectors: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Slot:
    """A slot of MCUboot, in bytes: offset in the memory for code, size of the slot, size of its
    header. The image is linked for the address after the header.
    """

    offset: int
    size: int
    header: int


@dataclass(frozen=True)
class Fvp:
    """Arm's model of the board: a program and its arguments."""

    program: str
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Board:
    """A board as described by its BUILD.bazel; sizes in bytes.

    Attributes:
        core: as for -mcpu, or "host".
        isa: class of kernels the core runs: "scalar", "thumb1", "dsp" or "mve".
        code, weights, data: names of the memories for code, for constants of models, and
            for stacks and variables.
        stack, handler_stack: size of the program's stack and of the exception handlers'.
        variables: bytes of the data memory left by plans to variables outside of
            arenas.
        heap: bytes of the data memory for malloc.
        arena: memories for activations and scratch, the best first.
        irqs: numbers of the chip's interrupts by name.
        vectors_alignment: of the vector table.
        engines: for delegates, the NPU's among them.
        flash: tools that write images to it, the best first (tools/image/flash_tools.py).
        writes: to registers, in this order, before anything else.
        boot_header: size of the header before the vector table, read by the chip's ROM.
        startup: labels of the start-up libraries of programs, after "//".
        slot: place where a boot loader expects a signed image, None if there is none.
    """

    name: str
    description: str
    core: str
    isa: Literal["scalar", "thumb1", "dsp", "mve"]
    memories: tuple[Memory, ...]
    code: str
    weights: str
    data: str
    stack: int
    handler_stack: int
    variables: int
    arena: tuple[Pool, ...]
    console: Console
    npu: BoardNpu | None
    engines: tuple[Engine, ...]
    simulator: Simulator | None
    flash: tuple[dict[str, Any], ...]
    heap: int = 0
    boot_header: int = 0
    startup: tuple[str, ...] = ()
    slot: Slot | None = None
    writes: tuple[Write, ...] = ()
    timer: Timer | None = None
    irqs: Mapping[str, int] = field(default_factory=dict)
    vectors_alignment: int = 256
    fvp: Fvp | None = None

    @property
    def shared_arena(self) -> str:
        """Arena memory shared by the models of a program: the best one, or an engine's work memory
        if there is an engine.
        """
        for engine in self.engines:
            reached = engine.memories or [pool.name for pool in self.arena]
            works_in = [engine.scratch] if engine.scratch else reached
            for pool in self.arena:
                if pool.name in works_in:
                    return pool.name
        return self.arena[0].name

    def memory(self, name: str) -> Memory:
        """Return the memory of that name.

        Raises:
            BoardError: there is none.
        """
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise BoardError(f"board {self.name}: it has no memory {name!r}")

    def memory_at(self, address: int) -> Memory:
        """Return the memory containing an address.

        Raises:
            BoardError: there is none.
        """
        for memory in self.memories:
            if memory.base <= address < memory.base + memory.size:
                return memory
        raise BoardError(f"board {self.name}: it has no memory at {address:#010x}")


def load_board(path: Path) -> Board:
    """Read a board.json.

    Raises:
        BoardError: the file is not one.
    """
    try:
        fields = json.loads(path.read_text())
        fields["console"] = Console(**fields["console"])
        fields["writes"] = tuple(Write(**one) for one in fields.get("writes", ()))
        fields["timer"] = Timer(**fields["timer"]) if fields.get("timer") else None
        fields["simulator"] = Simulator(**fields["simulator"]) if fields["simulator"] else None
        fields["fvp"] = Fvp(**fields["fvp"]) if fields.get("fvp") else None
        if fields["npu"]:
            limits = tuple(AxiLimit(**limit) for limit in fields["npu"]["axi_limits"])
            beyond = tuple(fields["npu"]["out_of_reach"])
            fields["npu"] = BoardNpu(
                **fields["npu"] | {"axi_limits": limits, "out_of_reach": beyond}
            )
        fields["engines"] = tuple(
            Engine(**{**engine, "memories": tuple(engine["memories"])})
            for engine in fields["engines"]
        )
        fields["flash"] = tuple(fields["flash"])
        fields["slot"] = Slot(**fields["slot"]) if fields.get("slot") else None
        fields["startup"] = tuple(fields.get("startup", ()))
        fields["memories"] = tuple(Memory(**memory) for memory in fields["memories"])
        fields["arena"] = tuple(Pool(**pool) for pool in fields["arena"])
        return Board(**fields)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BoardError(f"{path} does not describe a board: {error!r}") from error
