# SPDX-License-Identifier: Apache-2.0
"""Tools of build actions for boards: shared by all boards, so they are not built for each
configuration.
"""

load(":board_transition.bzl", "any_board_transition")

def _shared_tool_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = ctx.executable.program, is_executable = True)
    return [DefaultInfo(
        executable = program,
        files = depset([program]),
        runfiles = ctx.attr.program[DefaultInfo].default_runfiles,
    )]

shared_tool = rule(
    implementation = _shared_tool_impl,
    doc = "A py_binary, for attributes with `cfg = \"exec\"` of rules that are built for boards.",
    attrs = {
        "program": attr.label(cfg = "target", executable = True, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    cfg = any_board_transition,
    executable = True,
)
