# SPDX-License-Identifier: Apache-2.0
"""`board`, and the functions that describe a board and its chip."""

load("//boards:board_rule.bzl", "board_data", "board_rule")
load("//boards:board_transition.bzl", "CONSOLES")
load(
    "//boards:chip.bzl",
    _KB = "KB",
    _MB = "MB",
    _boot_header = "boot_header",
    _chip = "chip",
    _flash = "flash",
    _ram = "ram",
)
load(
    "//boards:clocks.bzl",
    "with_clock",
    _MHZ = "MHZ",
    _clock = "clock",
    _nrf_timer = "nrf_timer",
    _periodic_timer = "periodic_timer",
    _systick = "systick",
)
load(
    "//boards:engines.bzl",
    "engines_of",
    _axi_limit = "axi_limit",
    _engine = "engine",
    _ethos_u = "ethos_u",
)
load(
    "//boards:flash_methods.bzl",
    _bossac = "bossac",
    _dfu_util = "dfu_util",
    _jlink = "jlink",
    _linkserver = "linkserver",
    _openocd = "openocd",
    _pyocd = "pyocd",
    _st_link = "st_link",
    _uf2 = "uf2",
)
load(
    "//boards:simulators.bzl",
    _corstone300_fvp = "corstone300_fvp",
    _fvp = "fvp",
    _qemu = "qemu",
)
load(
    "//boards:uarts.bzl",
    "pin_number",
    _CMSDK_UART = "CMSDK_UART",
    _NRF_UART = "NRF_UART",
    _STELLARIS_UART = "STELLARIS_UART",
    _STM32F4_USART = "STM32F4_USART",
    _lpc_usart = "lpc_usart",
    _lpuart = "lpuart",
    _max_uart = "max_uart",
    _nrf_uarte = "nrf_uarte",
    _ns16550 = "ns16550",
    _pins = "pins",
    _pl011 = "pl011",
    _ra_sci = "ra_sci",
    _set_bits = "set_bits",
    _set_field = "set_field",
    _stm32_usart = "stm32_usart",
    _uart_driver = "uart_driver",
    _wait_for = "wait_for",
    _write = "write",
)
load("//tools/platforms:cores.bzl", "CORES")

# One file to load them from.
KB = _KB
MB = _MB
boot_header = _boot_header
chip = _chip
flash = _flash
ram = _ram
MHZ = _MHZ
clock = _clock
nrf_timer = _nrf_timer
periodic_timer = _periodic_timer
systick = _systick
axi_limit = _axi_limit
engine = _engine
ethos_u = _ethos_u
bossac = _bossac
dfu_util = _dfu_util
jlink = _jlink
linkserver = _linkserver
openocd = _openocd
pyocd = _pyocd
st_link = _st_link
uf2 = _uf2
corstone300_fvp = _corstone300_fvp
fvp = _fvp
qemu = _qemu
CMSDK_UART = _CMSDK_UART
NRF_UART = _NRF_UART
STELLARIS_UART = _STELLARIS_UART
STM32F4_USART = _STM32F4_USART
lpc_usart = _lpc_usart
lpuart = _lpuart
max_uart = _max_uart
nrf_uarte = _nrf_uarte
ns16550 = _ns16550
pins = _pins
pl011 = _pl011
ra_sci = _ra_sci
set_bits = _set_bits
set_field = _set_field
stm32_usart = _stm32_usart
uart_driver = _uart_driver
wait_for = _wait_for
write = _write

# Number of vector table entries for the core's own exceptions and the initial stack pointer.
_FIRST_INTERRUPT = 16

# Memory below a stack to catch an overflow (boards/common/cpu_armv7m.c).
_STACK_GUARD = 32 * KB

def mcuboot_slot(offset, size, header = 512):
    """Describes the slot of MCUboot, or of a loader for its images, in the memory for code.

    Args:
      offset: bytes before the primary slot, from which programs run.
      size: bytes of the slot, with MCUboot's trailer.
      header: bytes of imgtool's header before the vector table, a multiple of the table's alignment.
    """
    return {"offset": offset, "size": size, "header": header}

def uart(name, tx = None, rx = None):
    """Describes a console on a UART of the chip.

    Args:
      name: one of the chip's `uarts`.
      tx: transmitting pin, if the chip leaves it open: PA2, P0.24 or P12_2.
      rx: receiving pin, likewise, for programs that read. None: no input.
    """
    return struct(name = name, tx = tx, rx = rx)

def _console(board, chip, uart):
    if uart.name not in chip.uarts:
        fail("board %s: its chip has no UART %s; there are %s" % (board, uart.name, chip.uarts.keys()))
    if bool(uart.tx) != chip.uart_driver.has_pin or uart.rx and not uart.tx:
        fail("board %s: the pin `%s` of %s is %s" % (
            board,
            "rx" if uart.rx and not uart.tx else "tx",
            uart.name,
            "not given" if chip.uart_driver.has_pin else "not open to choice",
        ))
    clock_hz = chip.clock_hz
    return {
        "base": chip.uarts[uart.name],
        "baud": chip.uart_driver.baud_register(clock_hz[uart.name] if type(clock_hz) == "dict" else clock_hz),
        "pin": pin_number(board, uart.tx) if uart.tx else 0,
        "rx_pin": pin_number(board, uart.rx) if uart.rx else -1 if chip.uart_driver.has_pin else 0,
    }

def _writes(board, chip, uart, more):
    """Returns the register writes of the chip, the board and the console before the start."""
    writes = chip.writes + more
    if chip.uart_driver.init:
        tx = pin_number(board, uart.tx) if uart.tx else None
        rx = pin_number(board, uart.rx) if uart.rx else None
        writes = writes + chip.uart_driver.init(uart.name, tx, rx)
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
        fvp = None,
        flash_method = [],
        writes = [],
        clock = "reset",
        code_offset = 0,
        slot = None,
        startup = None):
    """Describes a board.

    Makes the board (board.json, linker script) and `platform`. Sizes are bytes.

    Args:
      name: name of the folder.
      description: one line for people.
      chip: chip(), from boards/chips or your own.
      console: uart().
      memories: list of flash() and ram() in addition to the chip's.
      arena: names of memories for activations and scratch, used after the chip's.
      weights: name of the memory for constants of models. The default is the chip's.
      stack: size of the program's stack. A firmware_image may override this and the next three.
      handler_stack: size of the stack of exception handlers.
      variables: bytes of the chip's `data` that plans leave to variables, at least.
      heap: size of the memory for malloc, for programs with //boards/common:libc.
      simulator: qemu(), or None.
      fvp: fvp(), or None.
      flash_method: list of pyocd() and others, the best first. The default is the chip's.
      writes: list of write() and others, after the chip's.
      clock: "reset", or "max" for the chip's fastest.
      code_offset: bytes of a boot loader at the start of the memory for code.
      slot: mcuboot_slot(), in place of code_offset. `.sign` signs images for it.
      startup: cc_library targets in place of the usual start-up code. They have the first two entries
        of the vector table in the section `.vectors`.
    """
    chip = with_clock(name, chip, clock)
    code_end = 0  # bytes after the slot
    if slot:
        code_offset = slot["offset"] + slot["header"]
        code_end = [one["size"] for one in chip.memories if one["name"] == chip.code][0] - slot["offset"] - slot["size"]
        if code_end < 0 or slot["header"] % _vectors_alignment(chip.irqs):
            fail("board %s: the slot ends behind %s, or its header is no multiple of %d" %
                 (name, chip.code, _vectors_alignment(chip.irqs)))
    if slot and chip.core == "cortex-m0":
        fail("board %s: a Cortex-M0 has its vector table at the start of its memory alone, where MCUboot's is: no slot" % name)
    memories = [
        memory | {"base": memory["base"] + code_offset, "size": memory["size"] - code_offset - code_end} if memory["name"] == chip.code else memory
        for memory in chip.memories
    ] + memories
    arena = chip.arena + arena
    weights = weights or chip.weights or chip.code
    by_name = {memory["name"]: memory for memory in memories}
    engines = engines_of(chip.engines, chip.npu, by_name.keys())
    for used in [chip.code, chip.data, weights] + arena + [one["scratch"] or weights for one in engines]:
        if used not in by_name:
            fail("board %s: it has no memory %s; it has %s" % (name, used, by_name.keys()))

    # A boot loader before the program has the header the ROM reads.
    boot_header = chip.boot_header if not code_offset else None
    header_size = boot_header.size if boot_header else 0
    vectors_alignment = _vectors_alignment(chip.irqs)
    if header_size % vectors_alignment:
        fail("board %s: after a boot header of %d bytes the vector table is not aligned to %d" %
             (name, header_size, vectors_alignment))
    guarded = by_name[chip.data]["base"]
    for memory in memories:
        if memory["base"] < guarded and memory["base"] + memory["size"] > guarded - _STACK_GUARD:
            fail("board %s: the stack's guard, the %d bytes below %s, would lie in %s" %
                 (name, _STACK_GUARD, chip.data, memory["name"]))

    libraries = (startup or [
        Label("//boards/common:startup_with_chip_init" if chip.init else "//boards/common:startup"),
        chip.uart_driver.console,
    ]) + [
        library
        for library in [
            chip.init,
            boot_header.library if boot_header else None,
        ]
        if library
    ]
    data = json.encode_indent(
        {
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
            "slot": slot,
            "vectors_alignment": vectors_alignment,
            "npu": chip.npu,
            "engines": engines,
            "simulator": simulator,
            "fvp": fvp,
            "flash": flash_method or chip.flash_method,
            "startup": [
                str(native.package_relative_label(library)).partition("//")[2]
                for library in libraries
            ],
        },
        indent = "  ",
    )
    board_data(
        name = name + ".data",
        json = data,
        visibility = ["//visibility:public"],
    )
    board_rule(
        name = name,
        json = data,
        startup = libraries if startup else select({
            Label("//boards:console_is_" + console): [
                Label("//boards/common:console_" + console) if library == chip.uart_driver.console and console != "uart" else library
                for library in libraries
            ]
            for console in CONSOLES
        }),
        timer = chip.timer.library if chip.timer else None,
        target_compatible_with = [Label("//tools/platforms/core:" + chip.core)],
        visibility = ["//visibility:public"],
    )

    # For tests, which run on this machine: they are incompatible with a board that nothing simulates,
    # unless one is connected.
    native.alias(
        name = "simulated",
        actual = Label("@platforms//os:linux") if simulator and not slot else select({
            Label("//boards:is_on_hardware"): Label("@platforms//os:linux"),
            "//conditions:default": Label("@platforms//os:none"),
        }),
        visibility = ["//visibility:public"],
    )
    native.platform(
        name = "platform",
        parents = [Label("//tools/platforms:" + chip.core)],
        visibility = ["//visibility:public"],
    )
