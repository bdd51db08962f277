# SPDX-License-Identifier: Apache-2.0
"""The macro `programs_test`: one test for each board running the programs of
boards/tests/programs.
"""

load("//boards:board_binary.bzl", "board_binary")
load("//boards:boards.bzl", "board_name")
load("//tools/python:pytest_test.bzl", "pytest_test")

def programs_test(name, board, programs, srcs, **kwargs):
    """Links programs for a board and runs pytest files with them.

    The tests find `<program>.<board>.elf` in this package and the board's folder in PL_BOARD.

    Args:
      name: of the test.
      board: label of the board.
      programs: names of libraries in boards/tests/programs.
      srcs: pytest files.
      **kwargs: other attributes of pytest_test.
    """
    binaries = []
    for program in programs:
        binary = "%s.%s" % (program, board_name(board))
        board_binary(
            name = binary,
            testonly = True,
            board = board,
            tags = ["manual"],
            visibility = ["//visibility:public"],
            deps = ["//boards/tests/programs:" + program],
        )
        for part in ["board", "elf"]:
            native.filegroup(
                name = "%s.%s" % (binary, part),
                testonly = True,
                srcs = [binary],
                output_group = part,
                tags = ["manual"],
                visibility = ["//visibility:public"],
            )
            binaries.append(":%s.%s" % (binary, part))
    pytest_test(
        name = name,
        srcs = srcs,
        data = binaries + ["@arm_gnu_toolchain//:objdump"],
        env = {"PL_BOARD": board_name(board)},
        deps = [
            "//tools/image",
            "//tools/simulator:simulate",
        ],
        **kwargs
    )
