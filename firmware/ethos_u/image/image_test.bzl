# SPDX-License-Identifier: Apache-2.0
"""image_test: payloads of the corpus in firmware."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//boards:board_test.bzl", "board_test")

def image_test(name, cases, archives, boards, **kwargs):
    """Makes tests `<name>.<board>` that run payloads as firmware does.

    Args:
      name: of the suite.
      cases: "graph/accelerator/memory_mode/inputs", as in the archives.
      archives: labels of the archives of the corpus that hold them.
      boards: labels of boards.
      **kwargs: as for board_test.
    """
    native.genrule(
        name = name + "_cases",
        testonly = True,
        outs = [name + "_cases.c"],
        cmd = "$(location //firmware/ethos_u/image:cases) --output=$@ --cases=%s %s" % (
            ",".join(cases),
            " ".join(["$(location %s)" % archive for archive in archives]),
        ),
        srcs = archives,
        tools = ["//firmware/ethos_u/image:cases"],
    )
    cc_library(
        name = name + "_data",
        testonly = True,
        srcs = [name + "_cases.c"],
        deps = ["//firmware/ethos_u/image:cases_h"],
    )
    board_test(
        name = name,
        boards = boards,
        deps = [
            "//firmware/ethos_u/image:image_test_main",
            ":" + name + "_data",
        ],
        **kwargs
    )
