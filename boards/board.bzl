# SPDX-License-Identifier: Apache-2.0
"""The rule `board` and the words that a board is described with."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//tools/platforms:cores.bzl", "CORES")

BoardInfo = provider(
    "A board: its data and what images for it are linked with.",
    fields = {
        "code": "Name of the memory for code.",
        "json": "File: the data, for Python (boards/board.py).",
        "linker_script": "File, or None on the host.",
        "startup": "CcInfo: from reset to main, console and exit.",
        "weights": "Name of the memory for constants of models.",
    },
)

KB = 1024
MB = 1024 * 1024

_CONSOLE_BAUD = 115200
_ALIGNMENT = 16

# Where a stack that overflows is caught (boards/common/cpu_armv7m.c).
_STACK_GUARD = 32 * KB

def flash(name, base, size):
    """A memory that keeps the image, or that a loader fills before the start."""
    return {"name": name, "base": base, "size": size, "kind": "flash"}

def ram(name, base, size):
    """A memory that starts with undefined contents."""
    return {"name": name, "base": base, "size": size, "kind": "ram"}

def cmsdk_uart(base, clock_hz):
    """Console on the APB UART of Arm's Cortex-M System Design Kit."""
    return {"driver": "cmsdk_uart", "base": base, "baud": clock_hz // _CONSOLE_BAUD}

def nrf_uart(base, pin):
    """Console on the UART of Nordic's nRF51; `pin` is the one that transmits."""
    return {"driver": "nrf_uart", "base": base, "baud": 0x01d7e000, "pin": pin}

def qemu(machine):
    """Simulated by QEMU's machine of that name."""
    return {"kind": "qemu", "machine": machine}

def ethos_u(base, irq, memory_mode, scratch, axi_limits = None, simulated = False):
    """An Arm Ethos-U55 or Ethos-U65; firmware reads from it which one (firmware/ethos_u/driver).

    Args:
      base: address of its registers.
      irq: number of its interrupt.
      memory_mode: what its AXI ports lead to, in Vela's words: Sram_Only, Shared_Sram or
        Dedicated_Sram.
      scratch: name of the memory for its scratch.
      axi_limits: axi_limit() for each of the four counters: two of port 0, two of port 1.
      simulated: whether the functional model stands in where no NPU answers.
    """
    return {
        "base": base,
        "irq": irq,
        "memory_mode": memory_mode,
        "scratch": scratch,
        "axi_limits": axi_limits or [axi_limit()] * 4,
        "simulated": simulated,
    }

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

def _board_impl(ctx):
    data = json.decode(ctx.attr.json)
    json_file = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(json_file, ctx.attr.json + "\n")
    script = None
    if data["core"] != "host":
        script = ctx.actions.declare_file(ctx.label.name + ".ld")
        ctx.actions.run(
            executable = ctx.executable._linker_script,
            arguments = [json_file.path, script.path],
            inputs = [json_file],
            outputs = [script],
            mnemonic = "LinkerScript",
            progress_message = "Writing the linker script of %{label}",
        )
    return [
        BoardInfo(
            code = data["code"],
            json = json_file,
            linker_script = script,
            startup = cc_common.merge_cc_infos(
                cc_infos = [dep[CcInfo] for dep in ctx.attr.startup],
            ),
            weights = data["weights"],
        ),
        DefaultInfo(files = depset([json_file] + ([script] if script else []))),
        OutputGroupInfo(json = depset([json_file])),
    ]

_board = rule(
    implementation = _board_impl,
    attrs = {
        "json": attr.string(mandatory = True),
        "startup": attr.label_list(providers = [CcInfo], mandatory = True),
        "_linker_script": attr.label(
            default = "//boards/common:linker_script",
            executable = True,
            cfg = "exec",
        ),
    },
)

def board(
        name,
        description,
        core,
        memories,
        code,
        data,
        arena,
        stack,
        variables,
        console,
        weights = None,
        handler_stack = 256,
        npu = None,
        simulator = None,
        flash_method = None,
        startup = None):
    """Describes a board, from which everything else about it follows.

    Makes the board itself (board.json, linker script), and `platform` beside it. Sizes are bytes.

    Args:
      name: the folder's name.
      description: one line for people.
      core: as -mcpu names it.
      memories: list of flash() and ram().
      code: name of the memory for code and constants; its start holds the vector table.
      data: name of the memory for stacks and variables.
      arena: names of memories for activations and scratch, the best first. What stacks and
        variables take of `data` is not part of the arena.
      stack: size of the program's stack.
      variables: bytes of `data` kept for variables.
      console: cmsdk_uart() or nrf_uart().
      weights: name of the memory for constants of models; `code` if not given.
      handler_stack: size of the stack of exception handlers.
      npu: ethos_u(), None if there is none.
      simulator: qemu(), or None if nothing simulates the board.
      flash_method: pyocd(), or None if an image is copied by hand.
      startup: cc_library targets in place of the ordinary start-up code.
    """
    by_name = {memory["name"]: memory for memory in memories}
    for used in [code, data, weights or code] + arena + ([npu["scratch"]] if npu else []):
        if used not in by_name:
            fail("board %s: no memory is called %s; there are %s" % (name, used, by_name.keys()))
    for size in [stack, handler_stack, variables]:
        if size % _ALIGNMENT:
            fail("board %s: %d is not a multiple of %d" % (name, size, _ALIGNMENT))
    guarded = by_name[data]["base"]
    for memory in memories:
        if memory["base"] < guarded and memory["base"] + memory["size"] > guarded - _STACK_GUARD:
            fail("board %s: the stack's guard, the %d bytes below %s, would lie in %s" %
                 (name, _STACK_GUARD, data, memory["name"]))
    pools = []
    for pool in arena:
        taken = stack + handler_stack + variables if pool == data else 0
        if taken >= by_name[pool]["size"]:
            fail("board %s: stacks and variables leave nothing of %s" % (name, pool))
        pools.append({"name": pool, "bytes": by_name[pool]["size"] - taken})

    _board(
        name = name,
        json = json.encode_indent({
            "name": name,
            "description": description,
            "core": core,
            "isa": CORES[core].isa,
            "memories": memories,
            "code": code,
            "weights": weights or code,
            "data": data,
            "stack": stack,
            "handler_stack": handler_stack,
            "variables": variables,
            "arena": pools,
            "console": console,
            "npu": npu,
            "simulator": simulator,
            "flash": flash_method,
        }, indent = "  "),
        startup = startup or [
            Label("//boards/common:startup"),
            Label("//boards/common:console_" + console["driver"]),
        ],
        target_compatible_with = [Label("//tools/platforms/core:" + core)],
        visibility = ["//visibility:public"],
    )
    native.platform(
        name = "platform",
        parents = [Label("//tools/platforms:" + core)],
        visibility = ["//visibility:public"],
    )

def host_board(name, platform, startup):
    """Describes the machine that the build runs on as a board with a single, large memory.

    Args:
      name: the folder's name.
      platform: what programs are built for.
      startup: cc_library targets with console and exit.
    """
    size = 1024 * MB
    _board(
        name = name,
        json = json.encode_indent({
            "name": name,
            "description": "the build machine",
            "core": "host",
            "isa": "scalar",
            "memories": [ram("ram", 0, size)],
            "code": "ram",
            "weights": "ram",
            "data": "ram",
            "stack": 0,
            "handler_stack": 0,
            "variables": 0,
            "arena": [{"name": "ram", "bytes": size}],
            "console": {"driver": "stdio"},
            "npu": ethos_u(
                base = 0,
                irq = 0,
                memory_mode = "Shared_Sram",
                scratch = "ram",
                simulated = True,
            ),
            "simulator": {"kind": "native"},
            "flash": None,
        }, indent = "  "),
        startup = startup,
        visibility = ["//visibility:public"],
    )
    native.platform(
        name = "platform",
        parents = [platform],
        visibility = ["//visibility:public"],
    )
