# SPDX-License-Identifier: Apache-2.0
"""The rule `board_timer`: the periodic timer of the current configuration's board."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//boards:board_rule.bzl", "BoardInfo")

def _board_timer_impl(ctx):
    return [ctx.attr.board[BoardInfo].timer]

board_timer = rule(
    implementation = _board_timer_impl,
    doc = "What implements boards/common/timer.h for the board; nothing where it has no timer.",
    attrs = {
        "board": attr.label(mandatory = True, providers = [BoardInfo]),
    },
    provides = [CcInfo],
)
