# SPDX-License-Identifier: Apache-2.0
"""kernel: all targets of a kernel's folder."""

load("@rules_python//python:defs.bzl", "py_library")
load("//kernels:kernel_library.bzl", "kernel_library")
load("//kernels/testing:kernel_test.bzl", "kernel_test")

def kernel(name, srcs = [], variants = {}, calls = [], deps = []):
    """The library, the planner and the tests of the kernels of a folder.

    Makes `<name>`, the kernel_library; `kernel`, the py_library with kernel.py; `cases`, that with
    cases.py; and the suite of tests `<name>_test`, one a board.

    Args:
      name: of the folder and of its header.
      srcs: sources for every core.
      variants: sources by class of core, see kernel_library.
      calls: other kernels whose functions or whose kernel.py this one uses.
      deps: C libraries beside //kernels/common.
    """
    kernel_library(
        name = name,
        srcs = srcs,
        hdrs = [name + ".h"],
        variants = variants,
        visibility = ["//visibility:public"],
        deps = [Label("//kernels/common")] + deps + [Label("//kernels/" + other) for other in calls],
    )
    py_library(
        name = "kernel",
        srcs = ["kernel.py"],
        visibility = ["//visibility:public"],
        deps = [
            Label("//kernels/common:kernel"),
            Label("//kernels/common:planning"),
        ] + [Label("//kernels/%s:kernel" % other) for other in calls],
    )
    py_library(
        name = "cases",
        srcs = ["cases.py"],
        visibility = ["//visibility:public"],
        deps = [Label("//kernels/testing:cases")],
    )
    kernel_test(
        name = name + "_test",
        cases = ":cases",
        kernel = ":" + name,
        lookup = ":kernel",
    )
