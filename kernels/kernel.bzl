# SPDX-License-Identifier: Apache-2.0
"""kernel: all targets of a kernel's folder."""

load("@rules_python//python:defs.bzl", "py_library")
load("//kernels:kernel_library.bzl", "kernel_library")
load("//kernels/testing:kernel_test.bzl", "kernel_test")

def kernel(
        name,
        srcs = [],
        hdrs = [],
        variants = {},
        only = {},
        small = {},
        float_vectors = [],
        calls = [],
        deps = [],
        defines_op = False):
    """The library, the planner and the tests of the kernels of a folder.

    Makes `<name>`, the kernel_library; `kernel`, the py_library with kernel.py; `cases`, that with
    cases.py and its tables, cases_*.py; and the suite of tests `<name>_test`, one a board. A
    workspace with Pilotlight in it may have kernels of its own: op.py then defines the op, and plans
    that call it name them.

    Args:
      name: of the folder and of its header.
      srcs: sources for every core.
      hdrs: headers beside <name>.h, of functions whose structs differ.
      variants: sources by class of core, see kernel_library.
      only: sources of one class of core, see kernel_library.
      small: sources whose `_scalar` form small images have, see kernel_library.
      float_vectors: sources whose `_mve` form needs more than vectors of integers, see kernel_library.
      calls: other kernels whose functions or whose kernel.py this one uses.
      deps: C libraries beside //kernels/common.
      defines_op: whether there is an op.py, with the op and its rule, for the py_library `op`.
    """
    if defines_op:
        py_library(
            name = "op",
            srcs = ["op.py"],
            visibility = ["//visibility:public"],
            deps = [
                Label("//aot/dialect"),
                Label("//aot/rules"),
            ],
        )
    kernel_library(
        name = name,
        srcs = srcs,
        hdrs = [name + ".h"] + hdrs,
        variants = variants,
        only = only,
        small = small,
        float_vectors = float_vectors,
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
        srcs = ["cases.py"] + native.glob(["cases_*.py"], allow_empty = True),
        visibility = ["//visibility:public"],
        deps = [Label("//kernels/testing:cases")] + ([":op"] if defines_op else []),
    )
    native.exports_files(
        ["BUILD.bazel"],
        visibility = [Label("//kernels:__pkg__")],
    )
    kernel_test(
        name = name + "_test",
        cases = ":cases",
        kernel = ":" + name,
        lookup = ":kernel",
    )
