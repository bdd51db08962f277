# SPDX-License-Identifier: Apache-2.0
"""The rule `board_binary`: a program linked for a board."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//boards:board.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "board_transition")

def link_for_board(ctx, name, deps):
    """Links libraries with a board's start-up code.

    Args:
      ctx: of a rule with BOARD_ATTRS.
      name: of the program.
      deps: targets with CcInfo, one of them with main.

    Returns:
      A struct with the Files `elf` and, None for the host, `map`.
    """
    board = ctx.attr.board[BoardInfo]
    toolchain = find_cc_toolchain(ctx)
    flags = []
    outputs = []
    map_file = None
    if board.linker_script:
        map_file = ctx.actions.declare_file(name + ".map")
        outputs.append(map_file)
        flags = [
            "-Wl,-T," + board.linker_script.path,
            "-Wl,-Map=" + map_file.path,
            "-Wl,--orphan-handling=error",
            "-Wl,--fatal-warnings",
            # boards/image/stack_bound.py tells addresses from numbers by their relocations.
            "-Wl,--emit-relocs",
        ]
    linked = cc_common.link(
        actions = ctx.actions,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        cc_toolchain = toolchain,
        name = name + ".elf",
        # The start-up code leads: it is linked whole, and refers to main in an archive behind it.
        linking_contexts = [board.startup.linking_context] + [
            dep[CcInfo].linking_context
            for dep in deps
        ],
        user_link_flags = flags,
        additional_inputs = [board.linker_script] if board.linker_script else [],
        additional_outputs = outputs,
    )
    return struct(elf = linked.executable, map = map_file)

# Attributes of a rule that links for a board; the rule itself has `cfg = board_transition`.
BOARD_ATTRS = {
    "board": attr.label(
        mandatory = True,
        providers = [BoardInfo],
        doc = "The board, such as //boards/corstone300.",
    ),
    "_allowlist_function_transition": attr.label(
        default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
    ),
}

def _board_binary_impl(ctx):
    linked = link_for_board(ctx, ctx.label.name, ctx.attr.deps)
    files = depset([linked.elf] + ([linked.map] if linked.map else []))
    return [
        DefaultInfo(files = files),
        OutputGroupInfo(
            board = depset([ctx.attr.board[BoardInfo].json]),
            elf = depset([linked.elf]),
        ),
    ]

board_binary = rule(
    implementation = _board_binary_impl,
    doc = "Links libraries, one of which has main, for a board: `<name>.elf` and `<name>.map`.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
    } | BOARD_ATTRS,
    cfg = board_transition,
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
