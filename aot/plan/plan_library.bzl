# SPDX-License-Identifier: Apache-2.0
"""plan_library: compiles a .pte to C for the board of the configuration."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")
load("@rules_python//python:defs.bzl", "py_binary")
load("//aot/bazel:lowered.bzl", "LoweredInfo", "lowered_for")
load("//aot/plan:c_name.bzl", "c_name", "check_compiled", "plan_header")
load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "no_board_transition")
load("//tools:actions.bzl", "run_action")
load("//tools/python:package_names.bzl", "package_names")
load("//tools/worker:bazel_worker.bzl", "WORKERS", "action_arguments", "execution_requirements")

_ProgramInfo = provider(
    "The .pte of a model, and decoded as `program`, by what it was lowered for.",
    fields = ["by_engine", "default", "optimize"],  # see LoweredInfo
)

def _decoded(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    arguments = action_arguments(ctx)
    arguments.add(ctx.file.pte, format = "--pte=%s")
    arguments.add(program, format = "--output=%s")
    arguments.add_all(ctx.attr.modules, format_each = "--load=%s")
    run_action(
        ctx,
        executable = ctx.executable.decoder,
        arguments = [arguments],
        inputs = [ctx.file.pte],
        outputs = [program],
        execution_requirements = {} if ctx.attr.modules else execution_requirements(ctx),
        mnemonic = "PteDecode",
        progress_message = "Decoding %s" % ctx.file.pte.short_path,
    )
    return _ProgramInfo(by_engine = {}, default = struct(program = program, pte = ctx.file.pte), optimize = "")

def _lowered_here(ctx, lowered):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = lowered.default.program)
    return _ProgramInfo(
        by_engine = lowered.by_engine,
        default = struct(program = program, pte = lowered.default.pte),
        optimize = lowered.optimize,
    )

def _program_impl(ctx):
    given = ctx.attr.pte
    info = _lowered_here(ctx, given[LoweredInfo]) if LoweredInfo in given else _decoded(ctx)
    return [DefaultInfo(files = depset([info.default.program])), info]

# The decoded .pte, the same for all boards; lowering decodes its own.
_program = rule(
    implementation = _program_impl,
    attrs = {
        "decoder": attr.label(
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
        "modules": attr.string_list(doc = "Modules that define ops."),
        "pte": attr.label(
            allow_single_file = [".pte"],
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    } | WORKERS,
    cfg = no_board_transition,
)

def _plan_source_impl(ctx):
    name = ctx.attr.plan_name

    # The linker script knows the shared arena by the file's name.
    source = ctx.actions.declare_file(name + ".plan.c")
    header = ctx.actions.declare_file(name + ".h")
    description = ctx.actions.declare_file(name + ".json")
    board = ctx.attr.board[BoardInfo].json
    model = lowered_for(ctx.attr.program[_ProgramInfo], ctx.attr.board[BoardInfo])
    arguments = action_arguments(ctx)
    arguments.add(model.pte, format = "--pte=%s")
    arguments.add(model.program, format = "--program=%s")
    arguments.add(board, format = "--board=%s")
    arguments.add(name, format = "--name=%s")
    arguments.add_all(ctx.attr.engines, format_each = "--engine=%s")
    optimize = (ctx.attr.optimize or ctx.attr._of_the_image[BuildSettingInfo].value or
                ctx.attr.program[_ProgramInfo].optimize or "speed")
    arguments.add(optimize, format = "--optimize=%s")
    sizes = ctx.files._code_sizes if optimize == "size" else []
    arguments.add_all(sizes, format_each = "--code_sizes=%s")
    if ctx.attr.arena:
        arguments.add(str(ctx.attr.arena), format = "--arena=%s")
    if ctx.attr.share:
        arguments.add("--share")
    if ctx.attr.hands_over:
        arguments.add("--hands_over")
    if ctx.attr.input_rows:
        arguments.add("--input_rows")
    if ctx.file.input_from:
        arguments.add(ctx.file.input_from, format = "--input_from=%s")
    if ctx.attr.checksum:
        arguments.add("--checksum")
    arguments.add(source, format = "--source=%s")
    arguments.add(header, format = "--header=%s")
    arguments.add(description, format = "--json=%s")
    arguments.add(plan_header(ctx.label.package, name), format = "--include=%s")
    arguments.add_all(ctx.attr.modules, format_each = "--load=%s")
    run_action(
        ctx,
        executable = ctx.executable.compiler,
        arguments = [arguments],
        inputs = [model.pte, model.program, board] + ctx.files.input_from + sizes,
        outputs = [source, header, description],
        execution_requirements = {} if ctx.attr.modules else execution_requirements(ctx),
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
        "compiler": attr.label(
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
        "modules": attr.string_list(doc = "Modules that find kernels."),
        "engines": attr.string_list(),
        "optimize": attr.string(values = ["", "memory", "size", "speed"]),
        "arena": attr.int(),
        "checksum": attr.bool(),
        "hands_over": attr.bool(),
        "input_from": attr.label(allow_single_file = [".json"]),
        "input_rows": attr.bool(),
        "plan_name": attr.string(mandatory = True),
        "share": attr.bool(),
        "program": attr.label(
            mandatory = True,
            providers = [_ProgramInfo],
        ),
        "_code_sizes": attr.label(default = "//kernels:code_sizes"),
        "_of_the_image": attr.label(default = "//tools/platforms:optimize"),
    } | WORKERS,
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

def _with(name, program, deps, without, **kwargs):
    """Makes a program of this package with the user's modules, or returns `without`."""
    if not deps:
        return Label("//aot/plan:" + without)
    source = Label("//aot/plan:%s.py" % program)
    package_names(
        name = "%s.%s.packages" % (name, program),
        deps = deps,
        **kwargs
    )
    py_binary(
        name = "%s.%s" % (name, program),
        srcs = [source],
        data = [":%s.%s.packages" % (name, program)],
        main = source,
        # A workspace's folder may have the name of one of Pilotlight's: both are one package.
        legacy_create_init = 0,
        deps = deps + [Label("//aot/plan:%s_lib" % program)],
        **kwargs
    )
    return ":%s.%s" % (name, program)

def decode_pte(name, pte, **kwargs):
    """Makes a target with the decoded .pte of a model, for boards without an engine.

    Args:
      name: name of the target.
      pte: like that of plan_library.
      **kwargs: tags, testonly, visibility.
    """
    _program(
        name = name,
        decoder = Label("//aot/plan:decode_worker"),
        modules = [],
        pte = pte,
        **kwargs
    )

def _modules(kernels, name):
    return [".".join([part for part in kernel.package.split("/") if part] + [name]) for kernel in kernels]

def plan_library(
        name,
        pte,
        engines = [],
        kernels = [],
        optimize = "",
        arena = 0,
        share = True,
        checksum = False,
        input_rows = False,
        input_from = None,
        hands_over = False,
        **kwargs):
    """Compiles a lowered model for the board of the configuration.

    Makes a library with `const pl_plan <name>` (firmware/runtime/plan.h), the header `<name>.h` in
    this package, and `<name>.json`. Characters that C lacks become underscores: `my-app` is `my_app`
    (c_name.bzl). The build fails with a table of needs if the model does not fit on the board.

    Args:
      name: name of the library and of the plan.
      pte: label of a .pte, or of a pte_model: then the board's engine selects the file.
      engines: backends whose engine the app brings, as code that reaches all memories. Engines of the
        board are known (firmware/runtime/delegate.h).
      kernels: labels of kernels from outside Pilotlight (kernels/kernel.bzl).
      optimize: "speed": the fewest instructions that fit into the board's memory. "memory": the
        smallest arena. "size": the least code, without fast kernels that make the image larger. The
        default comes from the image (firmware_image), then from the pte_model, then it is "speed".
      arena: limit of the arena in bytes, to keep memory for the app. With `optimize = "speed"` the plan
        is the fastest within it. 0: all memory of the board.
      share: share the arena with other models of the program (aot/plan/README.md).
      checksum: let pl_model_check verify the constants.
      input_rows: read the model's one input row by row during the run (pl_model_run_rows). Memory
        holds only the rows that are still needed.
      input_from: label of another plan_library. Its first output is this model's first input, in the
        shared arena, without a copy. Type, shape, layout and scale must be equal.
      hands_over: place the first output in the shared arena, for a model with `input_from`. Needed on
        a board with an NPU, if this model runs on the core alone.
      **kwargs: tags, testonly, visibility.
    """
    check_compiled("plan_library", name)
    plan_name = c_name(name)
    if plan_name == None:
        fail(("plan_library %s: the plan has this name in C too, where a name does not begin with a " +
              "digit, is no keyword, and none that the plan's file has for something else (c_name.bzl); " +
              "name the target otherwise") % name)
    source = plan_name + ".source"
    if native.existing_rule(source):
        fail("plan_library %s: in C this plan would be %s, as another one of this package is" %
             (name, plan_name))
    first = None
    if input_from:
        first = native.package_relative_label(input_from)
        first = first.same_package_label(first.name + ".json")
    kernels = [native.package_relative_label(kernel) for kernel in kernels]
    ops = [kernel.same_package_label("op") for kernel in kernels]
    planners = [kernel.same_package_label("kernel") for kernel in kernels]
    _program(
        name = name + ".program",
        decoder = _with(name, "decode", ops, without = "decode_worker", **kwargs),
        modules = _modules(kernels, "op"),
        pte = pte,
        **kwargs
    )
    _plan_source(
        name = source,
        checksum = checksum,
        input_from = first,
        hands_over = hands_over,
        input_rows = input_rows,
        compiler = _with(name, "compile", planners, without = "compile_worker.tool", **kwargs),
        engines = engines,
        modules = _modules(kernels, "kernel"),
        optimize = optimize,
        arena = arena,
        plan_name = plan_name,
        program = ":" + name + ".program",
        share = share,
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
            Label("//firmware/runtime:delegate"),
            Label("//firmware/runtime:plan"),
            Label("//kernels"),
        ] + kernels,
        **kwargs
    )
    _plan_library(
        name = name,
        library = ":" + name + ".library",
        source = ":" + source,
        **kwargs
    )
