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
    """Makes the library, the planner and the tests of a folder of kernels.

    Makes `<name>` (kernel_library), `kernel` (py_library of kernel.py and access.py), `cases` (py_library of
    cases.py and cases_*.py) and the suite `<name>_test`, one test for each board. A workspace of your
    own may have kernels: op.py then defines the op, and plans name the folder.

    Args:
      name: name of the folder and of its header.
      srcs: sources for every core.
      hdrs: more headers, for functions with other structs.
      variants: sources by class of core (kernel_library).
      only: sources of one class of core (kernel_library).
      small: sources with a size-optimized `_scalar` form (kernel_library).
      float_vectors: sources whose `_mve` form needs float vectors (kernel_library).
      calls: other kernels whose functions or kernel.py this one uses.
      deps: C libraries in addition to //kernels/common.
      defines_op: op.py exists, with the op and its rule, and becomes the py_library `op`.
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
    native.filegroup(
        name = "op.files",
        srcs = native.glob(["op*.py"], allow_empty = True),
        visibility = [Label("//kernels:__pkg__")],
    )
    native.filegroup(
        name = "access.files",
        srcs = native.glob(["access.py"], allow_empty = True),
        visibility = [Label("//kernels:__pkg__")],
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
        srcs = ["kernel.py"] + native.glob(["access.py"], allow_empty = True),
        visibility = ["//visibility:public"],
        deps = [
            Label("//kernels/common:access"),
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
