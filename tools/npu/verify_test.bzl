# SPDX-License-Identifier: Apache-2.0
"""The macro `ethos_u_verify_test`: the build's own check of payloads, for other workspaces."""

load("@rules_python//python:defs.bzl", "py_test")

def ethos_u_verify_test(name, pte, tosa, size = "medium", **kwargs):
    """Makes a test of the Ethos-U payloads in a .pte from another tool.

    The test compares each payload with TOSA's reference model on all kinds of inputs. It fails at the
    first difference and prints its place.

    Args:
      name: name of the test.
      pte: the .pte, or a payload.
      tosa: TOSA flatbuffers of its delegates, in the order of their runs.
      size: size of the test. TOSA's reference model is slow.
      **kwargs: other attributes of py_test.
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
