# SPDX-License-Identifier: Apache-2.0
"""Transitions between the configurations of boards."""

_CURRENT = "//boards:current"
_PLATFORMS = "//command_line_option:platforms"

def _board_impl(_settings, attr):
    return {
        _CURRENT: attr.board,
        _PLATFORMS: [attr.board.same_package_label("platform")],
    }

# For rules with an attribute `board`: they and all that they depend on are built for that board.
board_transition = transition(
    implementation = _board_impl,
    inputs = [],
    outputs = [_CURRENT, _PLATFORMS],
)

def _no_board_impl(_settings, _attr):
    return {_CURRENT: "//boards/host", _PLATFORMS: []}

# For attributes whose targets are the same for every board (a .pte): they are built once.
no_board_transition = transition(
    implementation = _no_board_impl,
    inputs = [],
    outputs = [_CURRENT, _PLATFORMS],
)
