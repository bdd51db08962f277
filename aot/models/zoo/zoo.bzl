# SPDX-License-Identifier: Apache-2.0
"""zoo_model: a network of this folder, its weights, and an image running it."""

load("@rules_python//python:defs.bzl", "py_binary")
load("//aot:pte_model.bzl", "pte_model")
load("//aot/models:trained_weights.bzl", "trained_weights")
load("//aot/plan:plan_library.bzl", "plan_library")
load("//boards:board_run.bzl", "board_run_test")
load("//boards:firmware_image.bzl", "firmware_image")
load("//firmware/apps:vectors.bzl", "check_app", "classify_app")

# Networks of every test run; all of them take minutes.
QUICK = [
    "autoencoder",
    "lstm_stream",
    "unet",
]

_BOARD = "//boards/corstone300"

# The parts of an image for the table.
PARTS = ["board", "elf", "plan_json", "size_json"]

def zoo_model(name, trained = False, classifies = False, tags = []):
    """Lowers `<name>.py`, makes the image `<name>_app` and its test `<name>_test`.

    Args:
      name: of the model and of its file.
      trained: True if its weights are made here, from the digits (on_digits.py).
      classifies: True if its `evaluation` gives classes; the board compares them with its
        own.
      tags: of all targets.
    """
    data = []
    if trained:
        py_binary(
            name = name + ".train",
            srcs = ["train.py"],
            main = "train.py",
            tags = tags,
            deps = [":%s.module" % name],
        )
        trained_weights(
            name = name + ".weights",
            arguments = ["--model=" + name],
            out = name + ".npz",
            tags = tags,
            train = ":%s.train" % name,
        )
        data = [":%s.weights" % name]
    pte_model(
        name = name,
        srcs = [name + ".py"],
        data = data,
        per_op = False,
        tags = tags,
        test_inputs = "aot.models.zoo.%s:%s" % (
            name,
            "evaluation" if classifies else "test_inputs",
        ),
        deps = [":common"],
    )
    plan_library(
        name = name + "_plan",
        pte = name,
        tags = tags,
    )
    if classifies:
        classify_app(
            name = name + "_run",
            plan = ":%s_plan" % name,
            tags = tags,
            test_set = name,
        )
    else:
        check_app(
            name = name + "_run",
            plan = ":%s_plan" % name,
            tags = tags,
            vectors = name,
        )
    firmware_image(
        name = name + "_app",
        app = ":%s_run" % name,
        board = _BOARD,
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
