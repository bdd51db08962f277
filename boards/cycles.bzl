# SPDX-License-Identifier: Apache-2.0
"""LLVM for programs of boards on which it can estimate cycles, and nothing for others."""

load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "board_transition")

def _has_cycles_impl(ctx):
    has = ctx.attr.board[BoardInfo].has_cycles
    return [config_common.FeatureFlagInfo(value = "yes" if has else "no")]

has_cycles = rule(
    implementation = _has_cycles_impl,
    doc = "A flag for config_setting: \"yes\" where LLVM estimates cycles of a board's programs.",
    attrs = {"board": attr.label(mandatory = True, providers = [BoardInfo])},
)

def _llvm_for_board_impl(ctx):
    return [DefaultInfo(runfiles = ctx.runfiles(transitive_files = ctx.attr._llvm[DefaultInfo].files))]

# An attribute that named LLVM itself would fetch it for every board.
llvm_for_board = rule(
    implementation = _llvm_for_board_impl,
    doc = "LLVM's programs, in runfiles, if they estimate cycles for the board.",
    attrs = {
        "board": attr.label(mandatory = True, providers = [BoardInfo]),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_llvm": attr.label(default = "//tools/simulator:llvm_where_it_estimates"),
    },
    cfg = board_transition,
)
