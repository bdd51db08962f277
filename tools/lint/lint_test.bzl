# SPDX-License-Identifier: Apache-2.0
"""A lint tool as a test of the whole source tree."""

load("@rules_python//python:defs.bzl", "py_test")

def lint_test(name, tool, size = "medium", args = [], data = []):
    """Makes a test that runs one check of lint.py.

    The test reads the source tree itself, also files that no target names. So it runs outside of
    the sandbox, and every time: Bazel cannot know what it depends on.

    Args:
      name: a key of lint.CHECKS.
      tool: label of the program.
      size: of the test.
      args: more arguments.
      data: what these name.
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
