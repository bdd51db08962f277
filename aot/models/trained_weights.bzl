# SPDX-License-Identifier: Apache-2.0
"""trained_weights: the weights of a model trained in the build."""

def _made_once_impl(ctx):
    return [DefaultInfo(
        files = depset(ctx.files.weights),
        runfiles = ctx.runfiles(files = ctx.files.weights),
    )]

# Lowering is a build tool and asks for weights in the tools' configuration; a test uses its own.
# Both get one file, trained once.
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
      out: the file of weights, next to the model's module.
      train: py_binary writing the file `--output`.
      arguments: more of its arguments.
      tags: of the target.
    """
    native.genrule(
        name = name + ".training",
        outs = [out],
        cmd = " ".join(["$(location %s)" % train] + arguments + ["--output=$@"]),
        message = "Training " + native.package_name(),
        tags = ["manual"],  # only used by the rule below
        tools = [train],
    )
    _made_once(
        name = name,
        tags = tags,
        weights = ":%s.training" % name,
    )
