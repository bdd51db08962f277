# SPDX-License-Identifier: Apache-2.0
"""npu_of_board: a library for boards that have an NPU."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//boards:board_rule.bzl", "BoardInfo")

def _npu_of_board_impl(ctx):
    if not ctx.attr._board[BoardInfo].npu:
        return [CcInfo()]
    return [ctx.attr.library[CcInfo]]

npu_of_board = rule(
    implementation = _npu_of_board_impl,
    doc = "The library for boards with an NPU; nothing, which is not even compiled, for others.",
    attrs = {
        "library": attr.label(
            mandatory = True,
            providers = [CcInfo],
        ),
        "_board": attr.label(
            default = "//boards:current",
            providers = [BoardInfo],
        ),
    },
    provides = [CcInfo],
)
