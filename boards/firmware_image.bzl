# SPDX-License-Identifier: Apache-2.0
"""The macro `firmware_image`: all files flashed on a board, and their documentation."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_python//python:defs.bzl", "py_binary")
load("//aot/bazel:lowered.bzl", "LoweredInfo", "lowered_for")
load("//boards:board_binary.bzl", "BOARD_ATTRS", "link_for_board")
load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_run.bzl", "board_sim")
load("//boards:board_transition.bzl", "CONSOLES", "OF_THE_BOARD", "SIZES", "board_transition", "no_board_transition")
load("//tools:actions.bzl", "run_action")
load("//tools/package:image_package.bzl", "image_package")
load("//tools/package:sources.bzl", "SourcesInfo", "sources_aspect")
load("//tools/report:image_report.bzl", "image_report")

def _binary_files(ctx, elf):
    """Returns `<name>.bin`, and `<name>.<memory>.bin` for weights in a memory of their own."""
    board = ctx.attr.board[BoardInfo]
    files = {board.code: ctx.actions.declare_file(ctx.label.name + ".bin")}
    if board.weights != board.code:
        files[board.weights] = ctx.actions.declare_file(
            "%s.%s.bin" % (ctx.label.name, board.weights),
        )
    run_action(
        ctx,
        executable = ctx.executable._binary_files,
        arguments = [board.json.path, elf.path] + [
            "%s=%s" % (memory, file.path)
            for memory, file in files.items()
        ],
        inputs = [board.json, elf],
        outputs = files.values(),
        mnemonic = "BinaryFiles",
        progress_message = "Writing the binary files of %{label}",
    )
    return files.values()

def _hex_file(ctx, elf):
    output = ctx.actions.declare_file(ctx.label.name + ".hex")
    run_action(
        ctx,
        executable = ctx.executable._objcopy,
        arguments = ["-O", "ihex", elf.path, output.path],
        inputs = [elf],
        tools = ctx.files._objcopy_files,
        outputs = [output],
        mnemonic = "HexFile",
        toolchain = None,
        progress_message = "Writing the hex file of %{label}",
    )
    return output

def _size_report(ctx, linked):
    output = ctx.actions.declare_file(ctx.label.name + ".size.json")
    board = ctx.attr.board[BoardInfo]
    run_action(
        ctx,
        executable = ctx.executable._size_report,
        arguments = [
            "--board=" + board.json.path,
            "--elf=" + linked.elf.path,
            "--map=" + linked.map.path,
            "--objdump=" + ctx.executable._objdump.path,
            "--output=" + output.path,
        ],
        inputs = [board.json, linked.elf, linked.map],
        tools = [ctx.executable._objdump] + ctx.files._objdump_files,
        outputs = [output],
        mnemonic = "SizeReport",
        toolchain = None,
        progress_message = "Measuring %{label}",
    )
    return output

def _lowered(ctx, part):
    """Returns a file of each model lowered here: `pte`, `report` or `vectors`."""
    return [
        getattr(lowered_for(model[LoweredInfo], ctx.attr.board[BoardInfo]), part)
        for model in ctx.attr.models
        if LoweredInfo in model
    ]

def _npu_estimates(ctx):
    """Returns a file of each model lowered elsewhere: its estimated use of an Ethos-U."""
    files = []
    for model in ctx.attr.models:
        if LoweredInfo in model:
            continue
        pte = model[DefaultInfo].files.to_list()[0]
        stem = pte.basename.removesuffix(".pte")
        files.append(ctx.actions.declare_file("%s.npu/%s.npu.json" % (ctx.label.name, stem)))
        run_action(
            ctx,
            executable = ctx.executable._npu_estimate,
            arguments = [pte.path, files[-1].path],
            inputs = [pte],
            outputs = [files[-1]],
            mnemonic = "NpuEstimate",
            progress_message = "Estimating what %{label} takes of an NPU",
        )
    return files

def _facts(ctx):
    """Returns the rows of `.sim`'s table with known facts about the models."""
    output = ctx.actions.declare_file(ctx.label.name + ".facts.json")
    told = _lowered(ctx, "report") + _npu_estimates(ctx)
    run_action(
        ctx,
        executable = ctx.executable._quality_facts,
        arguments = [output.path] + [file.path for file in told],
        inputs = told,
        outputs = [output],
        mnemonic = "QualityFacts",
        progress_message = "Reading lowering reports of the models of %{label}",
    )
    return output

def _copies(ctx, files):
    """Returns the files that document the image, placed next to it as `<name>.<file>`."""
    copies = []
    for file in files:
        copy = ctx.actions.declare_file("%s.%s" % (ctx.label.name, file.basename))
        ctx.actions.symlink(output = copy, target_file = file)
        copies.append(copy)
    return copies

def _pte(ctx, model):
    if LoweredInfo in model:
        return lowered_for(model[LoweredInfo], ctx.attr.board[BoardInfo]).pte
    return model[DefaultInfo].files.to_list()[0]

def _firmware_image_impl(ctx):
    if not ctx.attr.board[BoardInfo].linker_script:
        fail("%s: there is no image for the host; use board_binary" % ctx.label)
    linked = link_for_board(ctx, ctx.label.name, [ctx.attr.app])
    groups = {
        "bin": _binary_files(ctx, linked.elf),
        "elf": [linked.elf],
        "hex": [_hex_file(ctx, linked.elf)],
        "map": [linked.map],
        "plan_json": _copies(ctx, ctx.files.plans),
        "pte": _copies(ctx, [_pte(ctx, model) for model in ctx.attr.models]),
        "size_json": [_size_report(ctx, linked)],
    }
    return [
        DefaultInfo(files = depset([file for files in groups.values() for file in files])),
        OutputGroupInfo(
            board = depset([ctx.attr.board[BoardInfo].json]),
            code_bin = depset(groups["bin"][:1]),
            facts = depset([_facts(ctx)]),
            lowered = depset(_lowered(ctx, "pte")),
            lowering = depset(_lowered(ctx, "report")),
            sources = ctx.attr.app[SourcesInfo].files,
            vectors = depset(_lowered(ctx, "vectors")),
            **{group: depset(files) for group, files in groups.items()}
        ),
    ]

_firmware_image = rule(
    implementation = _firmware_image_impl,
    attrs = {
        "app": attr.label(
            mandatory = True,
            aspects = [sources_aspect],
            providers = [CcInfo],
        ),
        "models": attr.label_list(allow_files = [".pte"], cfg = no_board_transition),
        "plans": attr.label_list(allow_files = [".json"]),
        "_binary_files": attr.label(
            default = "//tools/image:binary_files.tool",
            executable = True,
            cfg = "exec",
        ),
        "_npu_estimate": attr.label(
            default = "//tools/image:npu_estimate.tool",
            executable = True,
            cfg = "exec",
        ),
        "_objcopy": attr.label(
            default = "@arm_gnu_toolchain//:objcopy",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "_objcopy_files": attr.label(
            default = "@arm_gnu_toolchain//:objcopy_files",
            cfg = "exec",
        ),
        "_objdump": attr.label(
            default = "@arm_gnu_toolchain//:objdump",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "_objdump_files": attr.label(
            default = "@arm_gnu_toolchain//:objdump_files",
            cfg = "exec",
        ),
        "_quality_facts": attr.label(
            default = "//tools/image:quality_facts.tool",
            executable = True,
            cfg = "exec",
        ),
        "_size_report": attr.label(
            default = "//tools/image:size_report.tool",
            executable = True,
            cfg = "exec",
        ),
    } | {
        size: attr.int(default = OF_THE_BOARD)
        for size in SIZES
    } | {
        "console": attr.string(default = CONSOLES[0], values = CONSOLES),
        "optimize": attr.string(values = ["", "memory", "size", "speed"]),
    } | BOARD_ATTRS,
    cfg = board_transition,
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)

# Tool that `bazel run <name>.<part>` starts, if its name differs from the part's, and its library.
_TOOLS = {
    "monitor": "on_board",
    "run": "on_board",
    "size": "size_table",
}
_LIBRARIES = {"size": "image"}

def firmware_image(
        name,
        board,
        app,
        models = [],
        plan = None,
        optimize = "",
        console = "uart",
        facts = [],
        stack = None,
        handler_stack = None,
        variables = None,
        heap = None,
        tags = [],
        testonly = False,
        visibility = None):
    """Makes an image for a board.

    `<name>` makes `<name>.elf`, `.bin`, `.hex`, `.map`, `.size.json`, a `.pte` for each model and the
    `.json` of the plans. These targets belong to it (docs/images.md):

    - `<name>.elf`, `.bin`, `.hex`: one kind of file
    - `<name>.size`, `.sim`, `.cycles`, `.debug`, `.fvp`: memory, simulation, debugger, Arm's model
    - `<name>.flash`, `.run`, `.monitor`, `.sign`: a connected board, a boot loader
    - `<name>.report`, `.package`: a page, a zip for other build systems
    - `<name>.evidence`: hashes, SBOM, claims with their tests (docs/evidence.md)

    Args:
      name: name of the image.
      board: label of the board.
      app: cc_library with main.
      models: .pte files of the app's models.
      plan: the .json of the app's plan_library, for the names of steps in `.sim`. A list for several
        models.
      optimize: "speed", "memory" or "size": default for plans whose plan_library does not set it.
        "size" also takes the size-optimized form of every kernel.
      console: output of text: "uart"; "rtt", a ring in RAM for debug probes (J-Link's RTT Viewer,
        `pyocd rtt`, OpenOCD's `rtt`); "semihosting", the screen of debugger or simulator. Without
        one, the program stops at its first text.
      facts: JSON files with more rows for the table of `.sim` (tools/image/sim.py).
      stack: bytes of the program's stack. The default of this and the next three is the board's.
      handler_stack: bytes of the stack of interrupt handlers.
      variables: bytes that plans leave to variables, at least. Set it if variables and models do not
        fit otherwise.
      heap: bytes for malloc.
      tags: tags of all targets.
      testonly: of all targets.
      visibility: visibility of all targets.
    """
    plans = plan if type(plan) == "list" else [plan] if plan else []
    _firmware_image(
        name = name,
        app = app,
        board = board,
        console = console,
        handler_stack = handler_stack,
        heap = heap,
        models = models,
        optimize = optimize,
        plans = plans,
        stack = stack,
        tags = tags,
        testonly = testonly,
        variables = variables,
        visibility = visibility,
    )
    for part in ["bin", "board", "code_bin", "elf", "facts", "hex", "plan_json", "size_json"]:
        native.filegroup(
            name = "%s.%s" % (name, part),
            srcs = [name],
            output_group = part,
            tags = tags,
            testonly = testonly,
            visibility = visibility,
        )
    inputs = {
        "board": ":%s.board" % name,
        "elf": ":%s.elf" % name,
        "size": ":%s.size_json" % name,
        "facts": ":%s.facts" % name,
    }

    # The first binary file is the memory for code. Weights in a memory of their own are in the .hex
    # alone.
    written = [":%s.hex" % name, ":%s.code_bin" % name]
    plan_json = [":%s.plan_json" % name] if plans else []
    given = {
        "debug": (["board"], [inputs["elf"]]),
        "flash": (["board"], written),
        "fvp": (["board", "size", "facts"], [inputs["elf"]]),
        "monitor": (["board"], []),
        "run": (["board", "elf", "size", "facts"], written),
        "sign": (["board"], written[1:]),
        "size": ([], [inputs["size"]]),
    }
    for part, (flags, files) in given.items():
        tool = Label("//tools/image:%s.py" % _TOOLS.get(part, part))
        more = facts if "facts" in flags else []
        py_binary(
            name = "%s.%s" % (name, part),
            srcs = [tool],
            args = (["--monitor"] if part == "monitor" else []) +
                   ["--%s=$(rootpath %s)" % (flag, inputs[flag]) for flag in flags] +
                   ["--facts=$(rootpath %s)" % file for file in more] +
                   ["'--plan=$(rootpaths %s)'" % file for file in plan_json if part == "run"] +
                   ["$(rootpath %s)" % file for file in files],
            data = [inputs[flag] for flag in flags] + more + files + (plan_json if part == "run" else []),
            main = tool,
            tags = tags,
            testonly = testonly,
            visibility = visibility,
            deps = [Label("//tools/image:" + _LIBRARIES.get(part, _TOOLS.get(part, part)))],
        )
    for part in ["sim", "cycles"]:
        board_sim(
            name = "%s.%s" % (name, part),
            cycles = board if part == "cycles" else None,
            facts = facts,
            has_plan = bool(plans),
            image = name,
            tags = tags + (["manual"] if part == "cycles" else []),
            testonly = testonly,
            visibility = visibility,
        )
    evidence = Label("//tools/evidence:evidence.py")
    py_binary(
        name = name + ".evidence",
        srcs = [evidence],
        args = ["//%s:%s" % (native.package_name(), name)],
        main = evidence,
        tags = ["manual"],
        testonly = testonly,
        visibility = visibility,
        deps = [Label("//tools/evidence")],
    )
    image_package(
        name = name + ".package",
        image = ":" + name,
        tags = ["manual"],
        testonly = testonly,
        visibility = visibility,
    )
    image_report(
        name = name,
        testonly = testonly,
        visibility = visibility,
    )
