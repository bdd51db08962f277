# SPDX-License-Identifier: Apache-2.0
"""Transitions between the configurations of boards."""

load("//boards:boards.bzl", "HOST")

_CURRENT = "//boards:current"
_PLATFORMS = "//command_line_option:platforms"
_OPTIMIZE = "//tools/platforms:optimize"
_PROFILE_STEPS = "//firmware/runtime:profile_steps"

# Sizes an image may set differently from its board, in bytes, and the value for "no difference".
SIZES = ["stack", "handler_stack", "variables", "heap"]
OF_THE_BOARD = -1

# Destination of an image's text output.
CONSOLE = "//boards:console"
CONSOLES = ["uart", "rtt", "semihosting"]

_SETTINGS = ["//boards:" + size for size in SIZES]

# Settings of a configuration without an image.
_NO_IMAGE = {CONSOLE: CONSOLES[0], _PROFILE_STEPS: False} | {setting: OF_THE_BOARD for setting in _SETTINGS}

def _board_impl(_settings, attr):
    return {
        _CURRENT: attr.board,
        _PLATFORMS: [attr.board.same_package_label("platform")],
        _OPTIMIZE: getattr(attr, "optimize", ""),
        CONSOLE: getattr(attr, "console", CONSOLES[0]),
    } | {"//boards:" + size: getattr(attr, size, OF_THE_BOARD) for size in SIZES}

# For rules with an attribute `board`, and perhaps `optimize` and some of SIZES. They and all their
# dependencies are built for that board.
board_transition = transition(
    implementation = _board_impl,
    inputs = [],
    outputs = [CONSOLE, _CURRENT, _OPTIMIZE, _PLATFORMS] + _SETTINGS,
)

def _core_impl(settings, attr):
    core = [Label("//tools/platforms:" + attr.core)] if attr.core else settings[_PLATFORMS]
    return _NO_IMAGE | {_CURRENT: HOST, _PLATFORMS: core}

# For libraries that depend only on a board's core. The attribute `core` selects it: "" for the
# host; its platform stays.
core_transition = transition(
    implementation = _core_impl,
    inputs = [_PLATFORMS],
    outputs = [CONSOLE, _CURRENT, _PLATFORMS, _PROFILE_STEPS] + _SETTINGS,
)

def _no_board_impl(_settings, _attr):
    return _NO_IMAGE | {_CURRENT: HOST, _OPTIMIZE: "", _PLATFORMS: []}

# For attributes whose targets are the same for every board and for a profile (a .pte): they are
# built once.
no_board_transition = transition(
    implementation = _no_board_impl,
    inputs = [],
    outputs = [CONSOLE, _CURRENT, _OPTIMIZE, _PLATFORMS, _PROFILE_STEPS] + _SETTINGS,
)

def _any_board_impl(_settings, _attr):
    return _NO_IMAGE | {_CURRENT: HOST, _OPTIMIZE: ""}

# For programs of the build machine; the platform stays.
any_board_transition = transition(
    implementation = _any_board_impl,
    inputs = [],
    outputs = [CONSOLE, _CURRENT, _OPTIMIZE, _PROFILE_STEPS] + _SETTINGS,
)
