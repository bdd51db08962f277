# SPDX-License-Identifier: Apache-2.0
"""trained_weights: the weights of a model that is trained in the build."""

def _made_once_impl(ctx):
    return [DefaultInfo(
        files = depset(ctx.files.weights),
        runfiles = ctx.runfiles(files = ctx.files.weights),
    )]

# Lowering is a tool of the build and asks for weights in the tools' configuration, a test in its own:
# both get one file, trained once.
_made_once = rule(
    implementation = _made_once_impl,
    attrs = {
        "weights": attr.label(
            mandatory = True,
            allow_files = True,
            cfg = "exec",
        ),
    },
)

def trained_weights(name, out, train, arguments = [], tags = []):
    """Trains a model and keeps its weights.

    Args:
      name: of the target.
      out: the file of weights, which lies beside the model's module.
      train: py_binary that writes the file `--output`.
      arguments: more of its arguments.
      tags: of the target.
    """
    native.genrule(
        name = name + ".training",
        outs = [out],
        cmd = " ".join(["$(location %s)" % train] + arguments + ["--output=$@"]),
        message = "Training " + native.package_name(),
        tags = ["manual"],  # nobody asks for them but what follows
        tools = [train],
    )
    _made_once(
        name = name,
        tags = tags,
        weights = ":%s.training" % name,
    )
