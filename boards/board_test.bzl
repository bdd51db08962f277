# SPDX-License-Identifier: Apache-2.0
"""The macro `board_test`: the same sources as one test a board."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//boards:board_binary.bzl", "board_binary")
load("//boards:board_run.bzl", "board_run_test")
load("//boards:boards.bzl", "HOST", "ONE_PER_CORE", "board_name")

def board_test(
        name,
        srcs = [],
        deps = [],
        boards = [Label(board) for board in [HOST] + ONE_PER_CORE],
        size = "small",
        tags = [],
        time_limit = 50,
        handler_stack = None,
        visibility = None,
        **kwargs):
    """Makes the tests `<name>.<board>`, and the suite `<name>` of all.

    The host runs the program under sanitizers. A test passes if the last line is PL:PASS and main
    returns 0 (boards/common/console.h).

    Args:
      name: name of the suite.
      srcs: C sources. These or `deps` have main.
      deps: libraries.
      boards: labels of boards.
      size: size of each test.
      tags: tags of each test.
      time_limit: seconds until the program is stopped. Less than `size` allows.
      handler_stack: bytes of the stack of interrupt handlers. The default is the board's.
      visibility: visibility of the suite.
      **kwargs: other attributes of the cc_library for `srcs`.
    """
    manual = [tag for tag in tags if tag == "manual"]
    libraries = deps
    if srcs:
        cc_library(
            name = name + ".lib",
            testonly = True,
            srcs = srcs,
            tags = manual,
            deps = deps + [Label("//boards/common:console")],
            **kwargs
        )
        libraries = [":%s.lib" % name]
    tests = []
    for board in boards:
        test = "%s.%s" % (name, board_name(board))
        board_binary(
            name = test + ".program",
            testonly = True,
            board = board,
            handler_stack = handler_stack,
            tags = ["manual"],
            deps = libraries,
        )
        board_run_test(
            name = test,
            size = size,
            arguments = ["--time_limit=%d" % time_limit],
            program = ":%s.program" % test,
            tags = tags,
        )
        tests.append(":" + test)
    native.test_suite(
        name = name,
        tags = manual,
        tests = tests,
        visibility = visibility,
    )
