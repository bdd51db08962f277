# SPDX-License-Identifier: Apache-2.0
"""What a board is for other rules: its data, and what images for it are linked with."""

load("@rules_cc//cc:defs.bzl", "CcInfo")

BoardInfo = provider(
    "A board: its data and what images for it are linked with.",
    fields = {
        "code": "Name of the memory for code.",
        "engines": "Configurations of what runs delegates, such as ethos-u55-128.",
        "json": "File: the data, for Python (boards/board.py).",
        "linker_script": "File, or None on the host.",
        "npu": "Configuration of its Ethos-U, None if it has none.",
        "startup": "CcInfo: from reset to main, console and exit.",
        "timer": "CcInfo: what implements boards/common/timer.h.",
        "weights": "Name of the memory for constants of models.",
    },
)

def _board_rule_impl(ctx):
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
            engines = [one["configuration"] for one in data["engines"] if one["configuration"]],
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

# Called by board() of board.bzl and host_board(), which know what the data are.
board_rule = rule(
    implementation = _board_rule_impl,
    attrs = {
        "json": attr.string(mandatory = True),
        "startup": attr.label_list(providers = [CcInfo], mandatory = True),
        "timer": attr.label(providers = [CcInfo]),
        "_linker_script": attr.label(
            default = "//boards/common:linker_script",
            executable = True,
            cfg = "exec",
        ),
    },
)
