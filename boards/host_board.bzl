# SPDX-License-Identifier: Apache-2.0
"""The macro `host_board`: the build machine."""

load("//boards:board.bzl", "MB", "ethos_u", "ram")
load("//boards:board_rule.bzl", "board_rule")
load("//boards:engines.bzl", "engines_of")

def host_board(name, platform, startup):
    """Describes the build machine as a board with a single, large memory.

    Args:
      name: the folder's name.
      platform: target platform of programs.
      startup: cc_library targets with console and exit.
    """
    size = 1024 * MB
    npu = ethos_u(
        configuration = "ethos-u55-128",
        base = 0,
        irq = 0,
        memory_mode = "Shared_Sram",
        scratch = "ram",
        simulated = True,
    )
    board_rule(
        name = name,
        json = json.encode_indent({
            "name": name,
            "description": "the build machine",
            "core": "host",
            "isa": "scalar",
            "memories": [ram("ram", 0, size)],
            "code": "ram",
            "weights": "ram",
            "data": "ram",
            "stack": 0,
            "handler_stack": 0,
            "variables": 0,
            "heap": 0,
            "arena": ["ram"],
            "console": {},
            "writes": [],
            "npu": npu,
            "engines": engines_of([], npu, ["ram"]),
            "simulator": {"kind": "native"},
            "flash": [],
        }, indent = "  "),
        startup = startup,
        visibility = ["//visibility:public"],
    )
    native.alias(
        name = "simulated",
        actual = Label("@platforms//os:linux"),
        visibility = ["//visibility:public"],
    )
    native.platform(
        name = "platform",
        parents = [platform],
        visibility = ["//visibility:public"],
    )
