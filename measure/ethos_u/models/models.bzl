# SPDX-License-Identifier: Apache-2.0
"""npu_model: a network on a board with an NPU."""

load("//aot:pte_model.bzl", "pte_model")
load("//aot/plan:plan_library.bzl", "plan_library")
load("//boards:board_run.bzl", "board_run_test")
load("//boards:board_test.bzl", "board_test")
load("//boards:boards.bzl", "HOST")
load("//boards:firmware_image.bzl", "firmware_image")
load("//firmware/apps:vectors.bzl", "check_app")

# The NPU of each board.
BOARDS = {
    "corstone300_ethos_u55": "ethos-u55-128",
    "corstone300_ethos_u55_256": "ethos-u55-256",
    "corstone300_ethos_u65": "ethos-u65-256",
}

# NPU of the build machine; programs run there under sanitizers.
HOST_NPU = "ethos-u55-128"

# The parts of an image for the table.
PARTS = ["board", "elf", "plan_json", "size_json"]

def npu_model(name, module, board, deps, quantization = "int8", tags = []):
    """Lower a model for a board's NPU, and make `<name>_app` and its test `<name>_test`.

    The image compares two outputs with the reference, bit for bit. The functional model in the
    image executes the NPU's part. For the NPU of the build machine, the same runs there,
    `<name>_host_test`.

    Args:
      name: of the targets.
      module: with `factory`, `calibration` and `test_inputs`.
      board: a key of BOARDS.
      deps: libraries with the module.
      quantization: of pte_model.
      tags: of all targets.
    """
    pte_model(
        name = name,
        calibration = module + ":calibration",
        model = module + ":factory",
        per_op = False,
        quantization = quantization,
        tags = tags,
        target = BOARDS[board],
        test_inputs = module + ":test_inputs",
        deps = deps,
    )
    plan_library(
        name = name + "_plan",
        pte = name,
        tags = tags,
    )
    check_app(
        name = name + "_run",
        limit = 2,
        plan = ":%s_plan" % name,
        tags = tags,
        vectors = name,
    )
    firmware_image(
        name = name + "_app",
        app = ":%s_run" % name,
        board = "//boards/" + board,
        models = [name],
        plan = ":%s_plan.json" % name,
        tags = tags,
        testonly = True,
    )
    board_run_test(
        name = name + "_test",
        size = "medium",
        program = ":%s_app" % name,
        tags = tags,
    )
    if BOARDS[board] == HOST_NPU:
        board_test(
            name = name + "_host_test",
            size = "medium",
            boards = [HOST],
            tags = tags,
            time_limit = 200,
            deps = [":%s_run" % name],
        )
