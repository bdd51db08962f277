# SPDX-License-Identifier: Apache-2.0
"""network_of_shape: a small network, and tests of its plans on a board of each class of cores."""

load("//aot:pte_model.bzl", "pte_model")
load("//aot/plan:plan_library.bzl", "plan_library")
load("//boards:board_run.bzl", "board_run_test")
load("//boards:firmware_image.bzl", "firmware_image")
load("//firmware/apps:vectors.bzl", "check_app")
load(":images.bzl", "SHAPE_BOARDS", "SHAPE_KINDS")

def network_of_shape(name, module, calibration, quantization = "int8", tags = []):
    """Lower a network, plan it for speed and for memory, and run both.

    Args:
      name: of the factory function.
      module: the module of that function, "shapes" or "other_shapes".
      calibration: name of the function of shape_inputs.py for its inputs.
      quantization: same as in pte_model.
      tags: of all targets.
    """
    pte_model(
        name = name,
        calibration = "measure.memory.shape_inputs:" + calibration,
        min_sqnr = "-inf",
        model = "measure.memory.%s:%s" % (module, name),
        per_op = False,
        quantization = quantization,
        tags = tags,
        deps = [":shapes"],
    )
    for optimize in SHAPE_KINDS:
        plan = "%s_%s_plan" % (name, optimize)
        check = "%s_%s_check" % (name, optimize)
        plan_library(
            name = plan,
            optimize = optimize,
            pte = name,
            tags = tags,
        )
        check_app(
            name = check,
            limit = 2,
            plan = plan,
            tags = tags,
            vectors = name,
        )
        for board in SHAPE_BOARDS:
            image = "%s_%s.%s" % (name, optimize, board)
            firmware_image(
                name = image,
                testonly = True,
                app = check,
                board = "//boards/" + board,
                plan = ":%s.json" % plan,
                tags = tags,
            )
            board_run_test(
                name = image + "_test",
                program = image,
                tags = tags,
            )
