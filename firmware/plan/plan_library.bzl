# SPDX-License-Identifier: Apache-2.0
"""plan_library: a .pte becomes C for the board that the configuration is for."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")
load("//boards:board.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "no_board_transition")
load("//firmware/plan:c_name.bzl", "c_name", "plan_header")

def _program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run(
        executable = ctx.executable._decoder,
        arguments = ["--pte=" + ctx.file.pte.path, "--output=" + program.path],
        inputs = [ctx.file.pte],
        outputs = [program],
        mnemonic = "PteDecode",
        progress_message = "Decoding %s" % ctx.file.pte.short_path,
    )
    return [DefaultInfo(files = depset([program]))]

# The decoded .pte, the same for all boards.
_program = rule(
    implementation = _program_impl,
    attrs = {
        "pte": attr.label(
            allow_single_file = [".pte"],
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_decoder": attr.label(
            cfg = "exec",
            default = "//firmware/plan:decode",
            executable = True,
        ),
    },
    cfg = no_board_transition,
)

def _plan_source_impl(ctx):
    name = ctx.attr.plan_name
    source = ctx.actions.declare_file(name + ".c")
    header = ctx.actions.declare_file(name + ".h")
    description = ctx.actions.declare_file(name + ".json")
    board = ctx.attr.board[BoardInfo].json
    arguments = ctx.actions.args()
    arguments.add(ctx.file.program, format = "--program=%s")
    arguments.add(board, format = "--board=%s")
    arguments.add(name, format = "--name=%s")
    arguments.add(source, format = "--source=%s")
    arguments.add(header, format = "--header=%s")
    arguments.add(description, format = "--json=%s")
    arguments.add(plan_header(ctx.label.package, name), format = "--include=%s")
    ctx.actions.run(
        executable = ctx.executable._compiler,
        arguments = [arguments],
        inputs = [ctx.file.program, board],
        outputs = [source, header, description],
        mnemonic = "PlanCompile",
        progress_message = "Planning %%{label} for %s" % ctx.attr.board.label.name,
    )
    return [
        DefaultInfo(files = depset([source, header])),
        OutputGroupInfo(
            header = depset([header]),
            json = depset([description]),
        ),
    ]

_plan_source = rule(
    implementation = _plan_source_impl,
    attrs = {
        "board": attr.label(
            default = "//boards:current",
            providers = [BoardInfo],
        ),
        "plan_name": attr.string(mandatory = True),
        "program": attr.label(
            allow_single_file = True,
            mandatory = True,
        ),
        "_compiler": attr.label(
            cfg = "exec",
            default = "//firmware/plan:compile",
            executable = True,
        ),
    },
)

def _plan_library_impl(ctx):
    return [
        ctx.attr.library[CcInfo],
        ctx.attr.library[DefaultInfo],
        ctx.attr.source[OutputGroupInfo],
    ]

_plan_library = rule(
    implementation = _plan_library_impl,
    attrs = {
        "library": attr.label(
            mandatory = True,
            providers = [CcInfo],
        ),
        "source": attr.label(mandatory = True),
    },
    provides = [CcInfo],
)

def plan_library(name, pte, **kwargs):
    """Compiles a lowered model for the board that the configuration is for.

    Gives a library that defines `const pl_plan <name>` (firmware/runtime/plan.h) and, for #include,
    `<name>.h` in this package; `<name>.json` describes the plan. In C, and in the files' names, each
    character of the name that C has not is an underscore: `my-app` is `my_app` (c_name.bzl). The build
    fails with a table of what is needed if the model does not fit on the board.

    Args:
      name: of the library and of the plan.
      pte: label of the .pte.
      **kwargs: tags, testonly, visibility.
    """
    plan_name = c_name(name)
    if plan_name == None:
        fail(("plan_library %s: the plan has this name in C too, where a name does not begin with a " +
              "digit, is no keyword, and none that the plan's file has for something else (c_name.bzl); " +
              "name the target otherwise") % name)
    source = plan_name + ".source"
    if native.existing_rule(source):
        fail("plan_library %s: in C this plan would be %s, as another one of this package is" %
             (name, plan_name))
    _program(
        name = name + ".program",
        pte = pte,
        **kwargs
    )
    _plan_source(
        name = source,
        plan_name = plan_name,
        program = ":" + name + ".program",
        **kwargs
    )
    for group in ["header", "json"]:
        native.filegroup(
            name = name + "." + group,
            srcs = [":" + source],
            output_group = group,
            **kwargs
        )
    cc_library(
        name = name + ".library",
        srcs = [":" + source],
        hdrs = [":" + name + ".header"],
        deps = [
            Label("//firmware/runtime:plan"),
            Label("//kernels"),
        ],
        **kwargs
    )
    _plan_library(
        name = name,
        library = ":" + name + ".library",
        source = ":" + source,
        **kwargs
    )
