# SPDX-License-Identifier: Apache-2.0
"""kernel_test: the cases of an op against its kernels, on the host and on a board of each core."""

load("@rules_python//python:defs.bzl", "py_binary")
load("//boards:board_test.bzl", "board_test")
load("//boards:board_transition.bzl", "no_board_transition")
load("//boards:boards.bzl", "HOST", "ONE_PER_CORE")
load("//boards:shared_library.bzl", "shared_library")
load("//tools:actions.bzl", "run_action")
load("//tools/python:package_names.bzl", "package_names")
load("//tools/worker:bazel_worker.bzl", "WORKERS", "action_arguments", "execution_requirements", "runfiles_list")

# One for each core. The cases of a Cortex-M0 need more flash than the micro:bit has.
_BOARDS = [
    "//kernels/testing/large_m0" if board == "//boards/microbit" else board
    for board in ONE_PER_CORE
]

_SETS = ["host", "scalar", "thumb1", "dsp", "mve"]

def _case_sources_impl(ctx):
    prefix = ctx.label.name
    outputs = [ctx.actions.declare_file("%s.%s.c" % (prefix, name)) for name in _SETS]
    listed, inputs = runfiles_list(ctx, ctx.attr.generator)
    arguments = action_arguments(ctx)
    arguments.add(listed, format = "--runfiles=%s")
    if ctx.attr.part >= 0:
        arguments.add("--part=%d" % ctx.attr.part)
    arguments.add("--package=" + ctx.label.package.replace("/", "."))
    arguments.add("--output=" + outputs[0].path.removesuffix(".host.c"))
    run_action(
        ctx,
        executable = ctx.executable._worker,
        arguments = [arguments],
        inputs = inputs,
        outputs = outputs,
        execution_requirements = execution_requirements(ctx),
        mnemonic = "KernelCases",
        progress_message = "Computing the expected results of %{label}",
    )
    return [
        DefaultInfo(files = depset(outputs)),
        OutputGroupInfo(**{name: depset([file]) for name, file in zip(_SETS, outputs)}),
    ]

_case_sources = rule(
    implementation = _case_sources_impl,
    attrs = {
        "generator": attr.label(
            cfg = "exec",
            doc = "The program with the op's modules, as somebody would call it.",
            mandatory = True,
        ),
        "part": attr.int(default = -1),
        "_worker": attr.label(
            default = "//kernels/testing:generate_worker",
            executable = True,
            cfg = "exec",
        ),
    } | WORKERS,
)

def _chosen_source_impl(ctx):
    files = ctx.attr.sources[0][OutputGroupInfo][ctx.attr.set]
    return [DefaultInfo(files = files)]

# One of the programs. A board's configuration does not reach the generator, so it runs once.
_chosen_source = rule(
    implementation = _chosen_source_impl,
    attrs = {
        "set": attr.string(mandatory = True),
        "sources": attr.label(
            mandatory = True,
            cfg = no_board_transition,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

def kernel_test(name, kernel, cases, lookup, size = "small", boards = None, part = None, tags = []):
    """Create the suite `<name>`: all cases on the host, some on a board of each core.

    The cases on boards are those with `board` set.

    Args:
      name: of the suite.
      kernel: the kernel_library.
      cases: py_library with cases.py of this package.
      lookup: py_library with kernel.py of this package.
      size: of each test.
      boards: boards for the cases, including the host. The default is the host and a board
        of each core.
      part: argument of `cases` of cases.py, None for a function without one.
      tags: of each test.
    """
    parts_tags = [tag for tag in tags if tag == "manual"]
    package_names(
        name = name + ".packages",
        testonly = True,
        tags = parts_tags,
        deps = [
            cases,
            lookup,
        ],
    )
    py_binary(
        name = name + ".generator",
        testonly = True,
        tags = parts_tags,
        srcs = [Label("//kernels/testing:generate.py")],
        data = [":%s.packages" % name],
        main = Label("//kernels/testing:generate.py"),
        # A workspace's folder may have the name of one of Pilotlight's: both are one package.
        legacy_create_init = 0,
        deps = [
            cases,
            lookup,
            Label("//kernels/testing:generate"),
        ],
    )
    _case_sources(
        name = name + ".sources",
        testonly = True,
        generator = ":%s.generator" % name,
        part = -1 if part == None else part,
        tags = parts_tags,
    )
    _chosen_source(
        name = name + ".host.source",
        testonly = True,
        tags = parts_tags,
        set = "host",
        sources = ":%s.sources" % name,
        visibility = [Label("//kernels:__pkg__")],  # the mutation test
    )
    _chosen_source(
        name = name + ".board.source",
        testonly = True,
        tags = parts_tags,
        set = select({
            Label("//tools/platforms:isa_dsp"): "dsp",
            Label("//tools/platforms:isa_thumb1"): "thumb1",
            Label("//tools/platforms:isa_mve"): "mve",
            "//conditions:default": "scalar",
        }),
        sources = ":%s.sources" % name,
    )
    shared_library(
        name = name + ".kernel",
        testonly = True,
        tags = parts_tags,
        library = kernel,
    )
    on_boards = [board for board in boards or _BOARDS if board != HOST]
    suites = [
        (name + ".on_host", name + ".host.source", [Label(HOST)]),
        (name + ".on_boards", name + ".board.source", [Label(board) for board in on_boards]),
    ]
    for suite, source, run_on in suites[:2 if on_boards else 1]:
        board_test(
            name = suite,
            size = size,
            srcs = [":" + source],
            boards = run_on,
            tags = tags,
            copts = ["-O1"],
            deps = [
                ":%s.kernel" % name,
                Label("//kernels/testing:runner"),
            ],
        )
    native.test_suite(
        name = name,
        tags = tags,
        tests = [":" + suite for suite, _, _ in suites[:2 if on_boards else 1]],
    )
