# SPDX-License-Identifier: Apache-2.0
"""The rule `board_binary`: a program linked for a board."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "OF_THE_BOARD", "board_transition")
load("//tools:actions.bzl", "run_action")

def link_for_board(ctx, name, deps):
    """Links libraries with a board's start-up code.

    Args:
      ctx: of a rule with BOARD_ATTRS.
      name: of the program.
      deps: targets with CcInfo, one of them with main.

    Returns:
      A struct with the Files `elf`, `linked` (the same, even if it does not fit on the
      board) and, None for the host, `map`.
    """
    board = ctx.attr.board[BoardInfo]
    toolchain = find_cc_toolchain(ctx)
    is_checked = board.linker_script != None
    map_file = None
    flags = []
    if is_checked:
        map_file = ctx.actions.declare_file(name + ".map")
        flags = [
            "-Wl,-T," + board.linker_script.path,
            "-Wl,-Map=" + map_file.path,
            "-Wl,--orphan-handling=error",
            "-Wl,--fatal-warnings",
            # Parts that do not fit may overlap: //tools/image:fit reports this and the missing
            # size.
            "-Wl,--no-check-sections",
            # tools/image/stack_bound.py uses relocations to distinguish addresses from numbers.
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
        name = name + (".linked.elf" if is_checked else ".elf"),
        # The start-up code comes first: it is linked whole, and refers to main in a later archive.
        linking_contexts = [board.startup.linking_context] + [
            dep[CcInfo].linking_context
            for dep in deps
        ],
        user_link_flags = flags,
        additional_inputs = [board.linker_script] if is_checked else [],
        additional_outputs = [map_file] if is_checked else [],
    )
    if not is_checked:
        return struct(elf = linked.executable, linked = linked.executable, map = None)
    archives = [
        library.static_library or library.pic_static_library
        for dep in deps
        for given in dep[CcInfo].linking_context.linker_inputs.to_list()
        for library in given.libraries
        if library.static_library or library.pic_static_library
    ]
    elf = ctx.actions.declare_file(name + ".elf")
    run_action(
        ctx,
        executable = ctx.executable._fit,
        arguments = [board.json.path, linked.executable.path, map_file.path, elf.path] +
                    [archive.path for archive in archives],
        inputs = [board.json, linked.executable, map_file] + archives,
        outputs = [elf],
        mnemonic = "Fit",
        progress_message = "Fitting %{label} on its board",
    )
    return struct(elf = elf, linked = linked.executable, map = map_file)

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
    "_fit": attr.label(
        default = "//tools/image:fit.tool",
        executable = True,
        cfg = "exec",
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
            linked = depset([linked.linked] + ([linked.map] if linked.map else [])),
        ),
    ]

board_binary = rule(
    implementation = _board_binary_impl,
    doc = "Links libraries, one of which has main, for a board: `<name>.elf` and `<name>.map`.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "handler_stack": attr.int(default = OF_THE_BOARD),
    } | BOARD_ATTRS,
    cfg = board_transition,
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
