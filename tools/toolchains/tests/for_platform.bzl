# SPDX-License-Identifier: Apache-2.0
"""The rule `for_platform`: a target built for another platform, with its sources."""

_PLATFORMS = "//command_line_option:platforms"

_InputsInfo = provider(
    doc = "What a target's actions read.",
    fields = {"file": "JSON, a list of actions"},
)

def _inputs_impl(target, ctx):
    output = ctx.actions.declare_file(target.label.name + ".inputs.json")
    ctx.actions.write(output, json.encode([
        struct(action = action.mnemonic, inputs = [file.path for file in action.inputs.to_list()])
        for action in target.actions
    ]))
    return [_InputsInfo(file = output)]

_inputs = aspect(implementation = _inputs_impl)

def _transition_impl(_settings, attr):
    return {_PLATFORMS: [attr.platform]}

_transition = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = [_PLATFORMS],
)

def _for_platform_impl(ctx):
    copies = []
    for file in ctx.files.src + [target[_InputsInfo].file for target in ctx.attr.src]:
        _, dot, extension = file.basename.partition(".")
        copy = ctx.actions.declare_file(ctx.label.name + dot + extension)
        ctx.actions.symlink(output = copy, target_file = file)
        copies.append(copy)
    return [DefaultInfo(files = depset(copies))]

for_platform = rule(
    implementation = _for_platform_impl,
    doc = "Gives `<name>.<extension>` for each file of `src`, and `<name>.inputs.json`.",
    attrs = {
        "platform": attr.string(mandatory = True),
        "src": attr.label(
            aspects = [_inputs],
            cfg = _transition,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
