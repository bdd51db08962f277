# SPDX-License-Identifier: Apache-2.0
"""`board` and the words that a board and its chip are described with."""

load("//boards:board_rule.bzl", "board_rule")
load("//tools/platforms:cores.bzl", "CORES")

KB = 1024
MB = 1024 * 1024
MHZ = 1000 * 1000

CONSOLE_BAUD = 115200

# The core's own exceptions and what stands in front of them, in the vector table.
_FIRST_INTERRUPT = 16

# Where a stack that overflows is caught (boards/common/cpu_armv7m.c).
_STACK_GUARD = 32 * KB

def flash(name, base, size):
    """A memory that keeps the image, or that a loader fills before the start."""
    return {"name": name, "base": base, "size": size, "kind": "flash"}

def ram(name, base, size):
    """A memory that starts with undefined contents."""
    return {"name": name, "base": base, "size": size, "kind": "ram"}

def boot_header(library, size):
    """What a chip's ROM reads before it starts the program.

    Args:
      library: cc_library with a constant in the section `.boot_header`.
      size: its bytes. It leads the code, and the vector table follows it.
    """
    return struct(library = library, size = size)

def write(address, value):
    """Writes a register before the program starts: one of a chip's or board's `init`."""
    return {"address": address, "clear": 0xffffffff, "set": value, "wait": False}

def set_bits(address, bits):
    """Sets bits of a register and leaves the others."""
    return {"address": address, "clear": bits, "set": bits, "wait": False}

def set_field(address, shift, mask, value):
    """Sets a field of a register, of the bits `mask` when it is shifted down."""
    return {"address": address, "clear": mask << shift, "set": value << shift, "wait": False}

def wait_for(address, mask, value):
    """Reads a register until its bits `mask` have a value."""
    return {"address": address, "clear": mask, "set": value, "wait": True}

def uart_driver(console, baud_register, has_pin = False, init = None):
    """A kind of UART: the library that writes to it, and what it learns from link_symbols.h.

    Args:
      console: cc_library that implements boards/common/console.h.
      baud_register: what its baud rate register holds, a function of the UART's clock in Hz.
      has_pin: whether the chip leaves open which pin transmits.
      init: None, or a function of the UART's name and the pin's number (PA2 is 2, PB2 18) that gives
        what is written before the driver starts: write() and its like, for clocks and the pin.
    """
    return struct(console = console, baud_register = baud_register, has_pin = has_pin, init = init)

# The UART of Arm's Cortex-M System Design Kit.
CMSDK_UART = uart_driver(
    console = Label("//boards/common:console_cmsdk_uart"),
    baud_register = lambda clock_hz: clock_hz // CONSOLE_BAUD,
)

# Of Nordic's nRF51.
NRF_UART = uart_driver(
    console = Label("//boards/common:console_nrf_uart"),
    baud_register = lambda _clock_hz: 0x01d7e000,
    has_pin = True,
)

# Of TI's Stellaris: Arm's PL011.
STELLARIS_UART = uart_driver(
    console = Label("//boards/common:console_stellaris_uart"),
    baud_register = lambda clock_hz: (8 * clock_hz // CONSOLE_BAUD + 1) // 2,
    has_pin = True,
)

_NEAREST = lambda clock_hz: (clock_hz + CONSOLE_BAUD // 2) // CONSOLE_BAUD
_PORT_BYTES = 0x400
_PORT_PINS = 16

def _alternate(gpio, pin, function):
    """Connects a pin of an STM32 to a peripheral: its registers AFRL or AFRH, and MODER."""
    port = gpio + pin // _PORT_PINS * _PORT_BYTES
    number = pin % _PORT_PINS
    return [
        set_field(port + 0x20 + 4 * (number // 8), 4 * (number % 8), 15, function),
        set_field(port, 2 * number, 3, 2),
    ]

def stm32_usart(version, gpio, gpio_clocks, clocks, functions = {}, first_port = 0, is_f1 = False):
    """USART and UART of ST's STM32.

    Args:
      version: 1 for those with the registers SR and DR (F1, F2, F4, L1), 2 for those with ISR and TDR.
      gpio: address of port A; the others follow.
      gpio_clocks: register whose bits switch ports on, from `first_port` on.
      clocks: dict from UART to (register, bit) that switches it on.
      functions: dict from UART to the pins' alternate function for it; 7 if not given.
      first_port: bit of port A in gpio_clocks.
      is_f1: whether a pin is set by CRL and CRH, as on STM32F1.

    Returns:
      A uart_driver().
    """

    def _init(uart, pin):
        register, bit = clocks[uart]
        clock = [set_bits(register, 1 << bit), set_bits(gpio_clocks, 1 << (first_port + pin // _PORT_PINS))]
        if is_f1:
            port, number = gpio + pin // _PORT_PINS * _PORT_BYTES, pin % _PORT_PINS
            return clock + [set_field(port + 4 * (number // 8), 4 * (number % 8), 15, 11)]
        return clock + _alternate(gpio, pin, functions.get(uart, 7))

    return uart_driver(
        console = Label("//boards/common:console_stm32_usart_v%d" % version),
        baud_register = _NEAREST,
        has_pin = True,
        init = _init,
    )

# Of ST's STM32F4.
STM32F4_USART = stm32_usart(
    version = 1,
    gpio = 0x40020000,
    gpio_clocks = 0x40023830,
    clocks = {
        "usart1": (0x40023844, 4),
        "usart2": (0x40023840, 17),
        "usart3": (0x40023840, 18),
        "uart4": (0x40023840, 19),
        "uart5": (0x40023840, 20),
        "usart6": (0x40023844, 5),
    },
    functions = {
        "uart4": 8,
        "uart5": 8,
        "usart6": 8,
    },
)

def periodic_timer(library, handler, clock_hz, base = 0):
    """What calls a program at regular times (boards/common/timer.h).

    Args:
      library: cc_library that implements boards/common/timer.h.
      handler: what its interrupt is called: one of the chip's `irqs`, or SysTick.
      clock_hz: what it counts with when main starts.
      base: address of its registers.
    """
    return struct(library = library, handler = handler, clock_hz = clock_hz, base = base)

def systick(clock_hz):
    """The core's own timer, clocked as the core is."""
    return periodic_timer(Label("//boards/common:timer_systick"), "SysTick", clock_hz)

def nrf_timer(name, base):
    """A TIMER of Nordic's nRF51 and nRF52, whose cores or simulators may have no SysTick."""
    return periodic_timer(Label("//boards/common:timer_nrf"), name, 16 * MHZ, base)

def uart(name, tx = None):
    """Console on a UART of the chip.

    Args:
      name: one of the chip's `uarts`.
      tx: the pin that transmits, where the chip leaves the choice: PA2 or P0.24.
    """
    return struct(name = name, tx = tx)

def qemu(machine, serial = 0):
    """Simulated by QEMU's machine of that name, whose serial port `serial` is the console."""
    return {"kind": "qemu", "machine": machine, "serial": serial}

def engine(backend, configuration = "", out_of_reach = [], scratch = ""):
    """What runs the delegates of a backend.

    Args:
      backend: its id in a .pte.
      configuration: which engine it is, as payloads say it; "" if it takes any.
      out_of_reach: names of memories that it does not reach, such as the core's own.
      scratch: name of the memory for its scratch; "" for any that it reaches.
    """
    return struct(
        backend = backend,
        configuration = configuration,
        out_of_reach = out_of_reach,
        scratch = scratch,
    )

def ethos_u(
        configuration,
        base,
        irq,
        memory_mode,
        scratch,
        out_of_reach = [],
        axi_limits = None,
        simulated = False):
    """An Arm Ethos-U55 or Ethos-U65, and the engine of ExecuTorch's "EthosUBackend".

    Args:
      configuration: which one, as Vela names it: "ethos-u55-128". Plans refuse models that were
        lowered for another; firmware asks the NPU itself (firmware/ethos_u/driver).
      base: address of its registers.
      irq: number of its interrupt.
      memory_mode: what its AXI ports lead to, in Vela's words: Sram_Only, Shared_Sram or
        Dedicated_Sram.
      scratch: name of the memory for its scratch.
      out_of_reach: names of memories that it does not reach, such as the core's own.
      axi_limits: axi_limit() for each of the four counters: two of port 0, two of port 1.
      simulated: whether the functional model stands in where no NPU answers.
    """
    return {
        "configuration": configuration,
        "out_of_reach": out_of_reach,
        "base": base,
        "irq": irq,
        "memory_mode": memory_mode,
        "scratch": scratch,
        "axi_limits": axi_limits or [axi_limit()] * 4,
        "simulated": simulated,
    }

def engines_of(engines, npu, memories):
    """Says in board.json's words what runs delegates on a chip.

    Args:
      engines: list of engine().
      npu: ethos_u(), None if there is none.
      memories: names of the memories that there are.

    Returns:
      A list of dicts.
    """
    if npu:
        of_npu = engine("EthosUBackend", npu["configuration"], npu["out_of_reach"], npu["scratch"])
        engines = engines + [of_npu]
    return [
        {
            "backend": one.backend,
            "configuration": one.configuration,
            "memories": [memory for memory in memories if memory not in one.out_of_reach],
            "scratch": one.scratch,
        }
        for one in engines
    ]

def axi_limit(burst_bytes = 64, memory_type = 2, reads = 32, writes = 16):
    """How the NPU uses memory: bytes of a burst (64, 128 or 256), AXI memory type, transfers at once."""
    return {
        "burst_bytes": burst_bytes,
        "memory_type": memory_type,
        "outstanding_reads": reads,
        "outstanding_writes": writes,
    }

def pyocd(target):
    """Flashed through a debug probe by pyOCD, which calls the chip `target`."""
    return {"method": "pyocd", "target": target}

def openocd(*files):
    """Flashed through a debug probe by OpenOCD, with its files for the probe and the chip."""
    return {"method": "openocd", "files": list(files)}

def jlink(device):
    """Flashed through a J-Link, whose software calls the chip `device`."""
    return {"method": "jlink", "device": device}

def st_link():
    """Flashed through an ST-LINK, by ST's program or by st-flash: a list of both."""
    return [{"method": "stm32_programmer"}, {"method": "st_flash"}]

def dfu_util(usb, address):
    """Flashed by the chip's own loader over USB, of that vendor:product, to an address."""
    return {"method": "dfu_util", "usb": usb, "address": address}

def uf2(board_id, family, hint):
    """Flashed by a boot loader that is a USB drive.

    Args:
      board_id: what its INFO_UF2.TXT says.
      family: the chip's number in UF2 files.
      hint: how the drive is made to appear.
    """
    return {"method": "uf2", "board_id": board_id, "family": family, "hint": hint}

def bossac(offset):
    """Flashed by an Arduino's boot loader, which lies in front of `offset`."""
    return {"method": "bossac", "offset": offset}

def linkserver(device):
    """Flashed by NXP's LinkServer, which calls chip and board `device`."""
    return {"method": "linkserver", "device": device}

def chip(
        core,
        memories,
        code,
        data,
        arena,
        uart_driver,
        uarts,
        clock_hz,
        timer = None,
        irqs = {},
        weights = None,
        npu = None,
        engines = [],
        boot_header = None,
        init = None,
        writes = [],
        flash_method = []):
    """Describes a chip, once for all boards that have it (boards/chips).

    Args:
      core: as -mcpu names it.
      memories: list of flash() and ram().
      code: name of the memory for code and constants; it holds the boot header, if there is one,
        and the vector table.
      data: name of the memory for stacks and variables.
      arena: names of memories for activations and scratch, the best first. What stacks and
        variables take of `data` is not part of the arena.
      uart_driver: uart_driver(), the kind of its UARTs.
      uarts: dict of their base addresses by name.
      clock_hz: what UARTs are clocked with when main starts.
      timer: systick() or another periodic_timer(), None if programs bring their own.
      irqs: dict of interrupt numbers by name, as CMSIS has them: TIMER0 calls TIMER0_Handler.
      weights: name of the memory for constants of models; `code` if not given.
      npu: ethos_u(), None if there is none.
      engines: list of engine(), what runs delegates beside the NPU.
      boot_header: boot_header(), None if the core starts from the vector table.
      init: cc_library with pl_chip_init (boards/common/chip.h), None if nothing has to be done.
      writes: list of write(), set_bits(), set_field() and wait_for(), in this order before all else:
        clocks, wait states, pins, memories that are off.
      flash_method: list of pyocd() and its like, the best first; empty if an image is copied by
        hand. Images are written by the first that is installed.

    Returns:
      A struct for board().
    """
    return struct(
        core = core,
        memories = memories,
        code = code,
        data = data,
        arena = arena,
        uart_driver = uart_driver,
        uarts = uarts,
        clock_hz = clock_hz,
        timer = timer,
        irqs = irqs,
        weights = weights,
        npu = npu,
        engines = engines,
        boot_header = boot_header,
        init = init,
        writes = writes,
        flash_method = flash_method,
    )

def _pin_number(board, pin):
    """Counts pins through all ports: letters name ports of 16 pins (PA2), digits of 32 (P0.24)."""
    port, number = pin[1:2], pin[2:].removeprefix(".")
    first = 32 * int(port) if port.isdigit() else 16 * "ABCDEFGHIJK".find(port)
    if not pin.startswith("P") or not port or not number.isdigit() or first < 0:
        fail("board %s: no pin is called %s; they are written as PA2 or P0.24" % (board, pin))
    return first + int(number)

def _console(board, chip, uart):
    if uart.name not in chip.uarts:
        fail("board %s: its chip has no UART %s; there are %s" % (board, uart.name, chip.uarts.keys()))
    if bool(uart.tx) != chip.uart_driver.has_pin:
        fail("board %s: the pin `tx` of %s is %s" % (
            board,
            uart.name,
            "not given" if chip.uart_driver.has_pin else "not open to choice",
        ))
    return {
        "base": chip.uarts[uart.name],
        "baud": chip.uart_driver.baud_register(chip.clock_hz),
        "pin": _pin_number(board, uart.tx) if uart.tx else 0,
    }

def _writes(board, chip, uart, more):
    """Returns what is written before the program starts: by the chip, the board, for the console."""
    writes = chip.writes + more
    if chip.uart_driver.init:
        writes = writes + chip.uart_driver.init(uart.name, _pin_number(board, uart.tx))
    return writes

def _vectors_alignment(irqs):
    """A vector table lies at a multiple of its size, rounded up to a power of two; of 256 at least."""
    entries = _FIRST_INTERRUPT + max([-1] + irqs.values()) + 1
    return [size for size in [256, 512, 1024, 2048] if size >= 4 * entries][0]

def _timer(board, chip):
    if not chip.timer:
        return None
    if chip.timer.handler != "SysTick" and chip.timer.handler not in chip.irqs:
        fail("board %s: its chip has no interrupt %s; there are %s" %
             (board, chip.timer.handler, chip.irqs.keys()))
    return {
        "base": chip.timer.base,
        "clock_hz": chip.timer.clock_hz,
        "handler": chip.timer.handler,
    }

def board(
        name,
        description,
        chip,
        console,
        memories = [],
        arena = [],
        weights = None,
        stack = 4 * KB,
        handler_stack = 256,
        variables = 4 * KB,
        heap = 0,
        simulator = None,
        flash_method = [],
        writes = [],
        code_offset = 0,
        startup = None):
    """Describes a board, from which everything else about it follows.

    Makes the board itself (board.json, linker script), and `platform` beside it. Sizes are bytes.

    Args:
      name: the folder's name.
      description: one line for people.
      chip: chip(), one of boards/chips or your own.
      console: uart().
      memories: list of flash() and ram() beside the chip's own.
      arena: names of those for activations and scratch, to be used after the chip's.
      weights: name of the memory for constants of models; the chip's if not given.
      stack: size of the program's stack. This and the next three a firmware_image may have otherwise.
      handler_stack: size of the stack of exception handlers.
      variables: bytes of the chip's `data` that plans leave to the program's variables; what models
        do not need is theirs as well.
      heap: size of the memory for malloc, for programs that take //boards/common:libc.
      simulator: qemu(), or None if nothing simulates the board.
      flash_method: list of pyocd() and its like, the best first; the chip's if not given.
      writes: list of write() and its like, after the chip's.
      code_offset: bytes at the start of the memory for code that belong to a boot loader.
      startup: cc_library targets in place of the ordinary start-up code; theirs are the first two
        entries of the vector table, in the section `.vectors`.
    """
    memories = [
        flash(memory["name"], memory["base"] + code_offset, memory["size"] - code_offset) if memory["name"] == chip.code else memory
        for memory in chip.memories
    ] + memories
    arena = chip.arena + arena
    weights = weights or chip.weights or chip.code
    by_name = {memory["name"]: memory for memory in memories}
    reached = [memory["name"] for memory in memories]
    engines = engines_of(chip.engines, chip.npu, reached)
    for used in [chip.code, chip.data, weights] + arena + [one["scratch"] or weights for one in engines]:
        if used not in by_name:
            fail("board %s: no memory is called %s; there are %s" % (name, used, by_name.keys()))
    header_size = chip.boot_header.size if chip.boot_header else 0
    vectors_alignment = _vectors_alignment(chip.irqs)
    if header_size % vectors_alignment:
        fail("board %s: after a boot header of %d bytes the vector table is not aligned to %d" %
             (name, header_size, vectors_alignment))
    guarded = by_name[chip.data]["base"]
    for memory in memories:
        if memory["base"] < guarded and memory["base"] + memory["size"] > guarded - _STACK_GUARD:
            fail("board %s: the stack's guard, the %d bytes below %s, would lie in %s" %
                 (name, _STACK_GUARD, chip.data, memory["name"]))

    board_rule(
        name = name,
        json = json.encode_indent({
            "name": name,
            "description": description,
            "core": chip.core,
            "isa": CORES[chip.core].isa,
            "memories": memories,
            "code": chip.code,
            "boot_header": header_size,
            "weights": weights,
            "data": chip.data,
            "stack": stack,
            "handler_stack": handler_stack,
            "variables": variables,
            "heap": heap,
            "arena": arena,
            "console": _console(name, chip, console),
            "writes": _writes(name, chip, console, writes),
            "timer": _timer(name, chip),
            "irqs": chip.irqs,
            "vectors_alignment": vectors_alignment,
            "npu": chip.npu,
            "engines": engines,
            "simulator": simulator,
            "flash": flash_method or chip.flash_method,
        }, indent = "  "),
        startup = (startup or [
            Label("//boards/common:startup_with_chip_init" if chip.init else "//boards/common:startup"),
            chip.uart_driver.console,
        ]) + [
            library
            for library in [
                chip.init,
                chip.boot_header.library if chip.boot_header else None,
            ]
            if library
        ],
        timer = chip.timer.library if chip.timer else None,
        target_compatible_with = [Label("//tools/platforms/core:" + chip.core)],
        visibility = ["//visibility:public"],
    )
    native.platform(
        name = "platform",
        parents = [Label("//tools/platforms:" + chip.core)],
        visibility = ["//visibility:public"],
    )
