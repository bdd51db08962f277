# SPDX-License-Identifier: Apache-2.0
"""The action of a program that exports with ExecuTorch. Its import takes longer than
most graphs.
"""

load("//tools:actions.bzl", "run_action")
load("//tools/worker:bazel_worker.bzl", "WORKERS", "action_arguments", "execution_requirements", "runfiles_list")

def _executorch_export_impl(ctx):
    listed, inputs = runfiles_list(ctx, ctx.attr.program)
    arguments = action_arguments(ctx)
    arguments.add(listed, format = "--runfiles=%s")
    arguments.add(ctx.attr.module, format = "--module=%s")
    arguments.add_all([ctx.expand_location(argument) for argument in ctx.attr.arguments])
    run_action(
        ctx,
        executable = ctx.executable._worker,
        arguments = [arguments],
        inputs = inputs,
        outputs = ctx.outputs.outs,
        execution_requirements = execution_requirements(ctx),
        mnemonic = "ExecuTorchExport",
        progress_message = "Exporting with ExecuTorch %{label}",
    )
    return [DefaultInfo(files = depset(ctx.outputs.outs))]

executorch_export = rule(
    implementation = _executorch_export_impl,
    doc = "What a program writes.",
    attrs = {
        "arguments": attr.string_list(doc = "Its flags, with $(execpath) of files that it writes."),
        "module": attr.string(doc = "The program's module, with a function `main`.", mandatory = True),
        "outs": attr.output_list(mandatory = True),
        "program": attr.label(
            cfg = "exec",
            doc = "The py_binary, as somebody would call it.",
            mandatory = True,
        ),
        "_worker": attr.label(
            cfg = "exec",
            default = ":export_worker",
            executable = True,
        ),
    } | WORKERS,
)
