# SPDX-License-Identifier: Apache-2.0
"""The environment of an action, for a test."""

load("//tools:actions.bzl", "run_action")

def _environment_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".txt")
    run_action(
        ctx,
        executable = "/bin/sh",
        arguments = ["-c", 'env > "$0"', output.path],
        outputs = [output],
        mnemonic = "Environment",
    )
    return [DefaultInfo(files = depset([output]))]

environment = rule(
    implementation = _environment_impl,
    doc = "A file with the variables that actions have.",
)
