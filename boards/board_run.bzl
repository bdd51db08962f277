# SPDX-License-Identifier: Apache-2.0
"""How programs run on simulated boards."""

load("@rules_python//python:defs.bzl", "py_binary", "py_test")

def _run(rule, name, program, arguments, data, testonly, **kwargs):
    for part in ["board", "elf"]:
        native.filegroup(
            name = "%s.%s" % (name, part),
            testonly = testonly,
            srcs = [program],
            output_group = part,
            tags = ["manual"],
        )
    rule(
        name = name,
        srcs = ["//tools/qemu:run.py"],
        args = [
            "--board=$(rootpath :%s.board)" % name,
            "$(rootpath :%s.elf)" % name,
        ] + arguments,
        data = data + [
            ":%s.board" % name,
            ":%s.elf" % name,
        ],
        main = "//tools/qemu:run.py",
        testonly = testonly,
        deps = ["//tools/qemu:run"],
        **kwargs
    )

def board_run(name, program, arguments = [], data = [], testonly = False, **kwargs):
    """Makes a target for `bazel run` that runs a program on its board's simulator.

    Args:
      name: of the target.
      program: label of a board_binary or firmware_image.
      arguments: more arguments of tools/qemu/run.py.
      data: files that the arguments name.
      testonly: whether the program is.
      **kwargs: other attributes of py_binary.
    """
    _run(py_binary, name, program, arguments, data, testonly, **kwargs)

def board_run_test(name, program, arguments = [], data = [], **kwargs):
    """Makes a test that passes if the program ends well on its board's simulator.

    Args:
      name: of the test.
      program: label of a board_binary or firmware_image.
      arguments: more arguments of tools/qemu/run.py.
      data: files that the arguments name.
      **kwargs: other attributes of py_test.
    """
    _run(py_test, name, program, arguments, data, True, **kwargs)
