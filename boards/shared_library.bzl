# SPDX-License-Identifier: Apache-2.0
"""`shared_library`: a library compiled once for all boards of a core."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//boards:board_transition.bzl", "core_transition")
load("//tools/platforms:cores.bzl", "CORES")

def _shared_library_impl(ctx):
    (library,) = ctx.attr.library
    return [library[CcInfo], library[DefaultInfo]]

_shared_library = rule(
    implementation = _shared_library_impl,
    attrs = {
        "core": attr.string(mandatory = True),
        "library": attr.label(
            mandatory = True,
            cfg = core_transition,
            providers = [CcInfo],
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    provides = [CcInfo],
)

def shared_library(name, library, **kwargs):
    """Wraps a cc_library that depends only on an image's core and `optimize`.

    Args:
      name: of the target.
      library: the cc_library.
      **kwargs: visibility and similar attributes.
    """
    _shared_library(
        name = name,
        core = select({
            Label("//tools/platforms/core:" + core): core
            for core in CORES
        } | {"//conditions:default": ""}),
        library = library,
        **kwargs
    )
