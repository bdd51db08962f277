# SPDX-License-Identifier: Apache-2.0
"""image_test: payloads of the corpus in firmware."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//boards:board_test.bzl", "board_test")
load("//boards:board_transition.bzl", "no_board_transition")

def _same_for_all_boards_impl(ctx):
    return [DefaultInfo(files = depset(ctx.files.srcs))]

# Files independent of the board, made once for all.
_same_for_all_boards = rule(
    implementation = _same_for_all_boards_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    cfg = no_board_transition,
)

def image_test(name, cases, archives, boards, **kwargs):
    """Make tests `<name>.<board>` that run payloads in the same way as firmware.

    Args:
      name: of the suite.
      cases: "graph/accelerator/memory_mode/inputs", same as in the archives.
      archives: labels of the archives of the corpus with these cases.
      boards: labels of boards.
      **kwargs: same as for board_test.
    """
    _same_for_all_boards(
        name = name + "_archives",
        testonly = True,
        srcs = archives,
    )
    native.genrule(
        name = name + "_cases",
        testonly = True,
        outs = [name + "_cases.c"],
        cmd = "$(location //tests/ethos_u/image:cases) --output=$@ " +
              "--board=$(location //boards:current.json) --cases=%s $(locations :%s_archives) >/dev/null" % (
                  ",".join(cases),
                  name,
              ),
        srcs = [
            ":%s_archives" % name,
            "//boards:current.json",
        ],
        tools = ["//tests/ethos_u/image:cases"],
    )
    cc_library(
        name = name + "_data",
        testonly = True,
        srcs = [name + "_cases.c"],
        deps = ["//tests/ethos_u/image:cases_h"],
    )
    board_test(
        name = name,
        boards = boards,
        deps = [
            "//tests/ethos_u/image:image_test_main",
            ":" + name + "_data",
        ],
        **kwargs
    )
