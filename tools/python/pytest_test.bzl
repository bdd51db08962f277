# SPDX-License-Identifier: Apache-2.0
"""pytest_test: a py_test whose sources are pytest files."""

load("@rules_python//python:defs.bzl", "py_test")

def pytest_test(
        name,
        srcs,
        deps = [],
        args = [],
        packages = Label("@python_checks//:packages"),
        **kwargs):
    """Runs pytest on srcs; `--test_filter` selects tests as pytest's -k does.

    Args:
      name: of the target.
      srcs: test_*.py files.
      deps: py_library targets.
      args: further pytest arguments.
      packages: the environment, with pytest in it.
      **kwargs: as for py_test.
    """
    py_test(
        name = name,
        srcs = srcs + [Label("//tools/python:pytest_main.py")],
        main = Label("//tools/python:pytest_main.py"),
        args = ["$(location %s)" % src for src in srcs] + args,
        deps = deps + [
            Label("//tools:imports"),
            packages,
        ],
        **kwargs
    )
