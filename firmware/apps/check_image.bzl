# SPDX-License-Identifier: Apache-2.0
"""check_image: your own model as an image that checks itself."""

load("//aot/plan:plan_library.bzl", "plan_library")
load("//boards:board_run.bzl", "board_run_test")
load("//boards:firmware_image.bzl", "firmware_image")
load("//firmware/apps:vectors.bzl", "check_app")

def check_image(name, model, board, kernels = [], limit = 4, tags = [], testonly = False, visibility = None, **kwargs):
    """Makes an image that runs a model on its vectors and compares the outputs bit for bit.

    Makes the targets of firmware_image, `<name>_plan` (the plan_library, for an app of your own),
    `<name>_check` (the program) and `<name>_test` (a run in the board's simulator). `bazel test` skips
    the test, with a message, if the board has no simulator. The plan's C name has an underscore for
    each character that C lacks.

    Args:
      name: name of the image.
      model: a pte_model.
      board: label of the board.
      kernels: like those of plan_library.
      limit: number of vectors in the image.
      tags: tags of the image's targets and of the test.
      testonly: of all targets.
      visibility: visibility of all targets but the test.
      **kwargs: other arguments of firmware_image.
    """
    plan_library(
        name = name + "_plan",
        kernels = kernels,
        pte = model,
        testonly = testonly,
        visibility = visibility,
    )
    check_app(
        name = name + "_check",
        limit = limit,
        plan = ":%s_plan" % name,
        testonly = testonly,
        vectors = model,
        visibility = visibility,
    )
    firmware_image(
        name = name,
        app = ":%s_check" % name,
        board = board,
        models = [model],
        plan = ":%s_plan.json" % name,
        tags = tags,
        testonly = testonly,
        visibility = visibility,
        **kwargs
    )
    board_run_test(
        name = name + "_test",
        program = ":" + name,
        tags = tags,
        target_compatible_with = [native.package_relative_label(board).same_package_label("simulated")],
    )
