# SPDX-License-Identifier: Apache-2.0
"""`shared_library`: a library that is compiled once for all images of a board."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//boards:board_transition.bzl", "no_image_transition")

def _shared_library_impl(ctx):
    (library,) = ctx.attr.library
    return [library[CcInfo], library[DefaultInfo]]

shared_library = rule(
    implementation = _shared_library_impl,
    doc = "Stands for a cc_library that does not know the sizes and the console of the image that it goes into.",
    attrs = {
        "library": attr.label(
            mandatory = True,
            cfg = no_image_transition,
            providers = [CcInfo],
        ),
    },
    provides = [CcInfo],
)
