# SPDX-License-Identifier: Apache-2.0
"""Action for the lowering of a model for a target."""

load("//tools:actions.bzl", "run_action")
load("//tools/worker:bazel_worker.bzl", "WORKERS", "action_arguments", "execution_requirements", "runfiles_list")

_OUTPUTS = ["output", "program", "report", "vectors"]

def _lowering_impl(ctx):
    listed, inputs = runfiles_list(ctx, ctx.attr.lower)
    outputs = {name: getattr(ctx.outputs, name) for name in _OUTPUTS}
    files = {"input_from": ctx.file.input_from, "onnx": ctx.file.onnx, "tflite": ctx.file.tflite}
    arguments = action_arguments(ctx)
    arguments.add(listed, format = "--runfiles=%s")
    arguments.add_all(ctx.attr.arguments)
    for flag, file in (files | outputs).items():
        if file:
            arguments.add(file, format = "--" + flag + "=%s")
    run_action(
        ctx,
        executable = ctx.executable._worker,
        arguments = [arguments],
        inputs = depset([file for file in files.values() if file], transitive = [inputs]),
        outputs = outputs.values(),
        execution_requirements = execution_requirements(ctx),
        mnemonic = "Lower",
        progress_message = "Lowering %s %%{label}" % ctx.attr.what,
    )
    return [DefaultInfo(files = depset(outputs.values()))]

lowering = rule(
    implementation = _lowering_impl,
    doc = "A lowered model: the .pte, decoded, the report and vectors.",
    attrs = {
        "arguments": attr.string_list(doc = "Flags of the command line, but for those of files."),
        "input_from": attr.label(allow_single_file = True),
        "lower": attr.label(
            cfg = "exec",
            doc = "The command line with the model's modules, as somebody would call it.",
            mandatory = True,
        ),
        "onnx": attr.label(allow_single_file = True),
        "tflite": attr.label(allow_single_file = True),
        "what": attr.string(doc = "What is lowered, for messages."),
        "_worker": attr.label(
            cfg = "exec",
            default = ":lower_worker",
            executable = True,
        ),
    } | WORKERS | {name: attr.output(mandatory = True) for name in _OUTPUTS},
)
