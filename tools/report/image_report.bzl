# SPDX-License-Identifier: Apache-2.0
"""The report of an image: one page, the same as Markdown and JSON, and its profile for Perfetto."""

load("@rules_python//python:defs.bzl", "py_binary")
load("//tools:actions.bzl", "run_action")

_PROFILE_STEPS = str(Label("//firmware/runtime:profile_steps"))

def _profiled_impl(_settings, _attr):
    return {_PROFILE_STEPS: True}

# The same image, but every step marked for the profiler.
_profiled = transition(
    implementation = _profiled_impl,
    inputs = [],
    outputs = [_PROFILE_STEPS],
)

def _group(target, name):
    return getattr(target[OutputGroupInfo], name).to_list()

def _profile(ctx):
    """Runs the image, as it is and with every step marked, on its board's simulator."""
    output = ctx.actions.declare_file(ctx.label.name + ".counted.json")
    image = ctx.attr.image
    board, elf, size = [_group(image, part)[0] for part in ["board", "elf", "size_json"]]
    plan = _group(image, "plan_json")
    marked = _group(ctx.attr.profiled[0], "elf")[0]
    run_action(
        ctx,
        executable = ctx.executable._profile,
        arguments = [
            "--board=" + board.path,
            "--size=" + size.path,
            "--marked=" + marked.path,
            "--output=" + output.path,
        ] + ["--plan=" + file.path for file in plan] + [elf.path],
        inputs = [board, elf, marked, size] + plan,
        outputs = [output],
        mnemonic = "Profile",
        progress_message = "Counting instructions of %{label}",
    )
    return output

def _image_report_impl(ctx):
    image = ctx.attr.image
    name = ctx.attr.image.label.name
    counted = _profile(ctx)
    board, size = [_group(image, part)[0] for part in ["board", "size_json"]]
    plan = _group(image, "plan_json")
    lowered, lowering = [_group(image, part) for part in ["lowered", "lowering"]]
    outputs = {
        kind: ctx.actions.declare_file("%s.%s" % (name, ending))
        for kind, ending in {
            "html": "report.html",
            "json": "report.json",
            "markdown": "report.md",
            "trace": "trace.json",
        }.items()
    }
    arguments = ctx.actions.args()
    arguments.add(board, format = "--board=%s")
    arguments.add(size, format = "--size=%s")
    arguments.add(counted, format = "--counted=%s")
    arguments.add_all(plan, format_each = "--plan=%s")
    arguments.add_all(lowering, format_each = "--lowering=%s")
    arguments.add_all(lowered, format_each = "--pte=%s")
    arguments.add_all(ctx.files._libraries, format_each = "--library=%s")
    for kind, file in outputs.items():
        arguments.add(file, format = "--%s=%%s" % kind)
    run_action(
        ctx,
        executable = ctx.executable._report,
        arguments = [arguments],
        inputs = [board, size, counted] + plan + lowered + lowering + ctx.files._libraries,
        outputs = outputs.values(),
        mnemonic = "ImageReport",
        progress_message = "Writing the report of %{label}",
    )
    return [
        DefaultInfo(files = depset([outputs["html"]])),
        OutputGroupInfo(**{kind: depset([file]) for kind, file in outputs.items()}),
    ]

_image_report = rule(
    implementation = _image_report_impl,
    attrs = {
        "image": attr.label(mandatory = True, doc = "A firmware_image."),
        "profiled": attr.label(mandatory = True, cfg = _profiled, doc = "The same."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_libraries": attr.label(default = "@page_libraries"),
        "_profile": attr.label(
            default = "//tools/report:profile",
            executable = True,
            cfg = "exec",
        ),
        "_report": attr.label(
            default = "//tools/report:make_report",
            executable = True,
            cfg = "exec",
        ),
    },
)

def image_report(name, testonly = False, visibility = None):
    """Make `<name>.report.html`, `.report.md`, `.report.json`, `.trace.json`, and `.report`.

    The last one builds the page and prints its name.

    Targets are only built on request: the image runs on its simulator for them.

    Args:
      name: of a firmware_image in this package.
      testonly: whether the image is.
      visibility: of all of them.
    """
    common = {"tags": ["manual"], "testonly": testonly, "visibility": visibility}
    _image_report(
        name = name + ".report_files",
        image = ":" + name,
        profiled = ":" + name,
        **common
    )
    for ending, group in {
        "report.html": "html",
        "report.json": "json",
        "report.md": "markdown",
        "trace.json": "trace",
    }.items():
        native.filegroup(
            name = "%s.%s" % (name, ending),
            srcs = [":%s.report_files" % name],
            output_group = group,
            **common
        )
    py_binary(
        name = name + ".report",
        srcs = [Label("//tools/report:name_report.py")],
        args = [
            "--page=$(rootpath :%s.report.html)" % name,
            "--report=$(rootpath :%s.report.json)" % name,
        ],
        data = [
            ":%s.report.html" % name,
            ":%s.report.json" % name,
        ],
        # A workspace's folder may have the name of one of Pilotlight's: both are one package.
        legacy_create_init = 0,
        main = Label("//tools/report:name_report.py"),
        deps = [Label("//tools/report:with_cycles")],
        **common
    )
