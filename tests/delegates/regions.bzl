# SPDX-License-Identifier: Apache-2.0
"""regions: the contents of a stand-in's delegate payloads, as model files of their own."""

load("//boards:board_transition.bzl", "no_board_transition")
load("//tools:actions.bzl", "run_action")

def _regions_impl(ctx):
    outputs = [ctx.outputs.table] + ctx.outputs.regions
    run_action(
        ctx,
        executable = ctx.executable.tool,
        arguments = [
            "--pte=" + ctx.file.model.path,
            "--table=" + ctx.outputs.table.path,
        ] + [file.path for file in ctx.outputs.regions],
        inputs = [ctx.file.model],
        outputs = outputs,
        mnemonic = "Regions",
    )
    return [DefaultInfo(files = depset(outputs))]

# The same for all boards: the model is lowered once.
regions = rule(
    implementation = _regions_impl,
    attrs = {
        "model": attr.label(allow_single_file = [".pte"], mandatory = True),
        "regions": attr.output_list(mandatory = True),
        "table": attr.output(mandatory = True, doc = "C: which plan stands for which payload."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "tool": attr.label(
            cfg = "exec",
            default = "//tests/delegates:regions_main",
            executable = True,
        ),
    },
    cfg = no_board_transition,
)
