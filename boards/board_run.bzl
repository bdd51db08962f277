# SPDX-License-Identifier: Apache-2.0
"""Targets running programs on simulated boards."""

load("@rules_python//python:defs.bzl", "py_binary", "py_test")
load("//boards:cycles.bzl", "llvm_for_board")

def _run(rule, name, program, main, arguments, data, testonly, deps, **kwargs):
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
        srcs = [main],
        args = [
            "--board=$(rootpath :%s.board)" % name,
            "$(rootpath :%s.elf)" % name,
        ] + arguments,
        data = data + [
            ":%s.board" % name,
            ":%s.elf" % name,
        ],
        main = main,
        testonly = testonly,
        deps = deps,
        **kwargs
    )

def board_sim(name, image, facts = [], has_plan = False, cycles = None, testonly = False, **kwargs):
    """Makes a target for `bazel run` that runs an image on its board's simulator.

    The program behind it, and its options, is tools/image/sim.py.

    Args:
      name: of the target.
      image: name of a firmware_image in this package.
      facts: JSON files with more rows for the table at the end.
      has_plan: whether the image knows its plans.
      cycles: label of the board, if cycles are estimated also by LLVM, which is fetched then.
      testonly: whether the image is.
      **kwargs: other attributes of py_binary.
    """
    files = {":%s.size_json" % image: "size"}
    files |= {file: "facts" for file in [":%s.facts" % image] + facts}
    arguments = ["--%s=$(rootpath %s)" % (flag, file) for file, flag in files.items()]
    plans = [":%s.plan_json" % image] if has_plan else []
    llvm = [":%s.llvm" % name] if cycles else []
    if cycles:
        llvm_for_board(
            name = name + ".llvm",
            board = cycles,
            tags = ["manual"],
        )
    arguments += ["'--plan=$(rootpaths %s)'" % file for file in plans]
    _run(
        py_binary,
        name,
        image,
        Label("//tools/image:sim.py"),
        arguments + (["--cycles"] if cycles else []),
        files.keys() + plans + llvm,
        testonly,
        [Label("//tools/image:sim")],
        **kwargs
    )

def board_run_test(name, program, arguments = [], data = [], **kwargs):
    """Makes a test that passes if a program succeeds on its board's simulator (tools/image/run.py).

    Args:
      name: of the test.
      program: label of a board_binary or firmware_image.
      arguments: more arguments of tools/image/run.py.
      data: files used in the arguments.
      **kwargs: other attributes of py_test.
    """
    _run(
        py_test,
        name,
        program,
        Label("//tools/image:run.py"),
        arguments,
        data,
        True,
        [Label("//tools/image:run")],
        **kwargs
    )
