# SPDX-License-Identifier: Apache-2.0
"""check_app and classify_app: programs running a model on vectors stored in the image."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//aot/bazel:lowered.bzl", "LoweredInfo", "lowered_for")
load("//aot/plan:c_name.bzl", "c_name", "check_compiled", "plan_header")
load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "no_board_transition")
load("//tools:actions.bzl", "run_action")

def _vectors_source_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".c")
    (given,) = ctx.attr.vectors
    vectors = ctx.file.vectors
    if LoweredInfo in given:
        vectors = lowered_for(given[LoweredInfo], ctx.attr._board[BoardInfo]).vectors
    arguments = ctx.actions.args()
    arguments.add(vectors, format = "--vectors=%s")
    arguments.add(ctx.file.plan, format = "--plan=%s")
    arguments.add(ctx.attr.include, format = "--include=%s")
    arguments.add(ctx.attr.limit, format = "--limit=%s")
    arguments.add(source, format = "--source=%s")
    run_action(
        ctx,
        executable = ctx.executable._generator,
        arguments = [arguments],
        inputs = [vectors, ctx.file.plan],
        outputs = [source],
        mnemonic = "Vectors",
        progress_message = "Storing vectors for %{label}",
    )
    return [DefaultInfo(files = depset([source]))]

_vectors_source = rule(
    implementation = _vectors_source_impl,
    attrs = {
        "include": attr.string(mandatory = True),
        "limit": attr.int(),
        "plan": attr.label(
            allow_single_file = [".json"],
            mandatory = True,
        ),
        "vectors": attr.label(
            # For a pte_model this is the .pte.
            allow_single_file = [
                ".npz",
                ".pte",
            ],
            cfg = no_board_transition,
            mandatory = True,
        ),
        "_board": attr.label(
            default = "//boards:current",
            providers = [BoardInfo],
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_generator": attr.label(
            cfg = "exec",
            default = "//firmware/apps:vectors_main.tool",
            executable = True,
        ),
    },
)

def vectors_app(name, program, plan, vectors, limit = 0, **kwargs):
    """Makes an app from your program and the vectors of a model (firmware/apps/vectors.h).

    Args:
      name: name of the library with main.
      program: cc_library with main.
      plan: a plan_library.
      vectors: a pte_model, or an .npz with arrays `input_<i>` and `output_<i>` (vectors.py).
      limit: number of stored vectors. 0: all.
      **kwargs: tags, testonly, visibility.
    """
    check_compiled("vectors_app", name)
    label = native.package_relative_label(plan)
    _vectors_source(
        name = name + ".vectors",
        include = plan_header(label.package, c_name(label.name)),
        limit = limit,
        plan = str(label) + ".json",
        vectors = vectors,
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [":" + name + ".vectors"],
        deps = [
            label,
            Label("//firmware/apps:inference"),
            Label("//firmware/apps:npu"),
            program,
        ],
        # The program comes later on the linker's command line and refers to the vectors.
        alwayslink = True,
        **kwargs
    )

def check_app(name, plan, vectors, limit = 0, **kwargs):
    """Makes an app that compares a model's outputs with stored ones, bit for bit (check.c).

    Args:
      name: name of the library with main.
      plan: a plan_library.
      vectors: a pte_model, or an .npz with arrays `input_<i>` and `output_<i>` (vectors.py).
      limit: number of stored vectors. 0: all.
      **kwargs: tags, testonly, visibility.
    """
    vectors_app(name, Label("//firmware/apps:check"), plan, vectors, limit, **kwargs)

def classify_app(name, plan, test_set, limit = 0, **kwargs):
    """Makes an app that classifies a stored test set (classify.c).

    Args:
      name: name of the library with main.
      plan: a plan_library.
      test_set: like `vectors` of check_app, also with `labels`: its test_inputs had classes.
      limit: number of stored images. 0: all.
      **kwargs: tags, testonly, visibility.
    """
    vectors_app(name, Label("//firmware/apps:classify"), plan, test_set, limit, **kwargs)
