# SPDX-License-Identifier: Apache-2.0
"""code_sizes: size and dependencies of each object file of a library, as JSON."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//tools:actions.bzl", "run_action")

def _code_sizes_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    objects = [
        file
        for linker_input in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        for file in library.objects or library.pic_objects
    ]
    arguments = ctx.actions.args()
    arguments.add(output, format = "--output=%s")
    arguments.add_all(objects)
    run_action(
        ctx,
        executable = ctx.executable._reader,
        arguments = [arguments],
        inputs = objects,
        outputs = [output],
        mnemonic = "CodeSizes",
        progress_message = "Reading object files of %{label}",
    )
    return [DefaultInfo(files = depset([output]))]

code_sizes = rule(
    implementation = _code_sizes_impl,
    attrs = {
        "library": attr.label(
            mandatory = True,
            providers = [CcInfo],
        ),
        "_reader": attr.label(
            cfg = "exec",
            default = "//aot/plan:code_sizes_reader.tool",
            executable = True,
        ),
    },
)
