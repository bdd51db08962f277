# SPDX-License-Identifier: Apache-2.0
"""The rule `for_platform`: targets as they are built for another platform."""

_PLATFORMS = "//command_line_option:platforms"

def _transition_impl(_settings, attr):
    return {_PLATFORMS: [attr.platform]}

_transition = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = [_PLATFORMS],
)

def _for_platform_impl(ctx):
    copies = []
    for file in ctx.files.srcs:
        copy = ctx.actions.declare_file(ctx.label.name + "." + file.extension)
        ctx.actions.symlink(output = copy, target_file = file)
        copies.append(copy)
    return [DefaultInfo(files = depset(copies))]

for_platform = rule(
    implementation = _for_platform_impl,
    doc = "Gives `<name>.<extension>` for each file of `srcs`.",
    attrs = {
        "platform": attr.string(mandatory = True),
        "srcs": attr.label_list(
            cfg = _transition,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
