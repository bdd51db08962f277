# SPDX-License-Identifier: Apache-2.0
"""Providers of a board for other rules: its data, and the libraries to link images with."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//boards:board_transition.bzl", "CONSOLE", "CONSOLES", "OF_THE_BOARD", "SIZES")
load("//tools:actions.bzl", "run_action")

_ALIGNMENT = 16

# Cores with LLVM's model for cycle estimates (MODELS in tools/simulator/cycles.py).
WITH_LLVM = ["cortex-m7", "cortex-m52", "cortex-m55", "cortex-m85"]

# An exception pushes up to 104 bytes on top of the program's own need, which is not always known.
_LEAST_STACK = 128

BoardInfo = provider(
    "A board: its data and what images for it are linked with.",
    fields = {
        "code": "Name of the memory for code.",
        "engines": "Configurations of what runs delegates, such as ethos-u55-128.",
        "has_cycles": "Whether LLVM estimates cycles of its programs.",
        "json": "File: the data, for Python (boards/board.py).",
        "linker_script": "File, or None on the host.",
        "npu": "Configuration of its Ethos-U, None if it has none.",
        "startup": "CcInfo: from reset to main, console and exit.",
        "timer": "CcInfo: what implements boards/common/timer.h.",
        "weights": "Name of the memory for constants of models.",
    },
)

def _with_sizes(ctx, data):
    """Returns a board's data with the sizes requested by an image, and the rest for arenas."""
    sizes = {size: data[size] for size in SIZES}
    for setting in ctx.attr._sizes:
        asked = setting[BuildSettingInfo].value
        if asked != OF_THE_BOARD:
            sizes[setting.label.name] = asked
    taken = 0
    for name, size in sizes.items():
        if size < 0 or size % _ALIGNMENT:
            fail("board %s: `%s` of %d bytes is not a multiple of %d" %
                 (data["name"], name, size, _ALIGNMENT))
        if name in ("stack", "handler_stack") and size < _LEAST_STACK and data["core"] != "host":
            fail("board %s: `%s` of %d bytes is less than %d, which an exception takes" %
                 (data["name"], name, size, _LEAST_STACK))
        taken += size
    by_name = {memory["name"]: memory["size"] for memory in data["memories"]}
    if taken >= by_name[data["data"]]:
        fail("board %s: %s take %d bytes together, %s has %d" %
             (data["name"], ", ".join(["`%s`" % size for size in SIZES]), taken, data["data"], by_name[data["data"]]))
    pools = [
        {"name": pool, "bytes": by_name[pool] - (taken if pool == data["data"] else 0)}
        for pool in data["arena"]
    ]
    return data | sizes | {"arena": pools}

def _has_cycles(data):
    counted = data["simulator"] and data["simulator"]["kind"] == "qemu"
    return bool(counted) and data["core"].split("+")[0] in WITH_LLVM

def _board_data_impl(ctx):
    file = ctx.actions.declare_file(ctx.label.name + ".json")
    data = _with_sizes(ctx, json.decode(ctx.attr.json))
    ctx.actions.write(file, json.encode_indent(data, indent = "  ") + "\n")
    return [DefaultInfo(files = depset([file]))]

board_data = rule(
    implementation = _board_data_impl,
    doc = "A board's data, `<board>.data.json`, in any configuration: for what needs to know boards, but no image of them.",
    attrs = {
        "json": attr.string(mandatory = True),
        "_sizes": attr.label_list(default = ["//boards:" + size for size in SIZES]),
    },
)

def _board_rule_impl(ctx):
    data = json.decode(ctx.attr.json)
    is_host = data["core"] == "host"
    data = _with_sizes(ctx, data)
    console = ctx.attr._console[BuildSettingInfo].value
    if console != CONSOLES[0]:
        data = data | {"console": data["console"] | {"kind": console}}
    json_file = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(json_file, json.encode_indent(data, indent = "  ") + "\n")
    script = None
    if not is_host:
        script = ctx.actions.declare_file(ctx.label.name + ".ld")
        run_action(
            ctx,
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
            engines = [one["configuration"] for one in data["engines"] if one["configuration"]],
            has_cycles = _has_cycles(data),
            json = json_file,
            linker_script = script,
            npu = data["npu"]["configuration"] if data["npu"] else None,
            startup = cc_common.merge_cc_infos(
                cc_infos = [dep[CcInfo] for dep in ctx.attr.startup],
            ),
            timer = ctx.attr.timer[CcInfo] if ctx.attr.timer else CcInfo(),
            weights = data["weights"],
        ),
        DefaultInfo(files = depset([json_file] + ([script] if script else []))),
        OutputGroupInfo(json = depset([json_file])),
    ]

# Called by board() of board.bzl and host_board(), which define the content of the data.
board_rule = rule(
    implementation = _board_rule_impl,
    attrs = {
        "json": attr.string(mandatory = True),
        "startup": attr.label_list(providers = [CcInfo], mandatory = True),
        "timer": attr.label(providers = [CcInfo]),
        "_console": attr.label(default = CONSOLE),
        "_sizes": attr.label_list(default = ["//boards:" + size for size in SIZES]),
        "_linker_script": attr.label(
            default = "//boards/common:linker_script.tool",
            executable = True,
            cfg = "exec",
        ),
    },
)
