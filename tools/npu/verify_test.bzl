# SPDX-License-Identifier: Apache-2.0
"""The macro `ethos_u_verify_test`: what a build does with the payloads that it makes, for others."""

load("@rules_python//python:defs.bzl", "py_test")

def ethos_u_verify_test(name, pte, tosa, size = "medium", **kwargs):
    """Runs the Ethos-U payloads of a .pte that was lowered elsewhere against TOSA's reference model.

    The test fails if a payload computes something else than the graph that it was compiled from, on
    any of the kinds of inputs, and says where.

    Args:
      name: of the test.
      pte: the .pte, or a payload of its own.
      tosa: the TOSA flatbuffers that its delegates were compiled from, in the order in which those run.
      size: of the test: TOSA's reference model is slow.
      **kwargs: further attributes of py_test.
    """
    program = Label("//tools/npu:verify.py")
    files = [pte] + tosa
    py_test(
        name = name,
        size = size,
        srcs = [program],
        args = ["$(rootpath %s)" % file for file in files],
        data = files,
        main = program,
        deps = [Label("//tools/npu:verify_py")],
        **kwargs
    )
