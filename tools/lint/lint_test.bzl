# SPDX-License-Identifier: Apache-2.0
"""A lint tool as a test of the whole source tree."""

load("@rules_python//python:defs.bzl", "py_test")

def lint_test(name, tool, size = "medium", args = [], data = []):
    """Make a test for one check of lint.py.

    The test reads the source tree itself, including files outside of all targets. Therefore it runs
    outside of the sandbox, and every time: Bazel cannot track its dependencies.

    Args:
      name: a key of lint.CHECKS.
      tool: label of the program.
      size: of the test.
      args: more arguments.
      data: files for these arguments.
    """
    py_test(
        name = name,
        size = size,
        srcs = ["lint.py"],
        args = [
            "--check=" + name,
            "--tool=$(rootpath %s)" % tool,
        ] + args,
        data = data + [
            tool,
            "//:WORKSPACE",
        ],
        main = "lint.py",
        tags = [
            "external",
            "local",
        ],
        deps = [":lint"],
    )
