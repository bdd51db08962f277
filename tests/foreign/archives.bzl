# SPDX-License-Identifier: Apache-2.0
"""The rule `archives`: files linked into firmware that is built with other tools."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "board_transition")

def _archives_impl(ctx):
    found = [
        library.static_library or library.pic_static_library
        for linker_input in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]
    return [DefaultInfo(files = depset(found))]

archives = rule(
    implementation = _archives_impl,
    doc = "Gives the archives of a library and of all that it depends on, built for a board.",
    attrs = {
        "board": attr.label(
            mandatory = True,
            providers = [BoardInfo],
        ),
        "library": attr.label(
            mandatory = True,
            providers = [CcInfo],
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    cfg = board_transition,
)
