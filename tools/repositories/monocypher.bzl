# SPDX-License-Identifier: Apache-2.0
"""Monocypher, which signatures of model packages are checked with, as an external repository.

Where it comes from, in this order: the folder that `PILOTLIGHT_MONOCYPHER` names; PyPI. Nothing
fetches it but programs with a model slot.
"""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")

_VARIABLE = "PILOTLIGHT_MONOCYPHER"

_FILES = ["LICENSE.txt", "monocypher.c", "monocypher.h"]

# BSD-2-Clause or CC0-1.0: LICENSE.txt.
_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

exports_files(
    ["LICENSE.txt", "monocypher.c", "monocypher.h"],
    visibility = ["//visibility:public"],
)

cc_library(
    name = "monocypher",
    srcs = ["monocypher.c"],
    hdrs = ["monocypher.h"],
    copts = ["-Os"],
    includes = ["."],
    visibility = ["//visibility:public"],
)
"""

def _monocypher_impl(repository_ctx):
    folder = repository_ctx.os.environ.get(_VARIABLE) or run_bootstrap(
        repository_ctx,
        program = "monocypher",
        arguments = [],
        python = repository_ctx.path(Label("@python_env//:bin/python3")),
        problem = "Monocypher could not be fetched (PyPI): set %s to a folder with %s" %
                  (_VARIABLE, ", ".join(_FILES)),
    )
    for name in _FILES:
        text = repository_ctx.read(repository_ctx.path(folder).get_child(name))
        repository_ctx.file(name, text, executable = False)
    repository_ctx.file("BUILD.bazel", _BUILD)

monocypher = repository_rule(
    implementation = _monocypher_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "Monocypher's C source, with its licence.",
)
