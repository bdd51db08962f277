# SPDX-License-Identifier: Apache-2.0
"""d3 and dagre, the drawing libraries of the image page, as an external repository.

Sources, in this order: the folder given by `PILOTLIGHT_PAGE_LIBRARIES`; npm. Only the page of an
image fetches them.
"""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")

_VARIABLE = "PILOTLIGHT_PAGE_LIBRARIES"

# Order of the files in the page.
_FILES = ["d3.LICENSE", "d3.min.js", "dagre.LICENSE", "dagre.min.js"]

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

filegroup(
    name = "page_libraries",
    srcs = {files},
    visibility = ["//visibility:public"],
)
"""

def _page_libraries_impl(repository_ctx):
    folder = repository_ctx.os.environ.get(_VARIABLE) or run_bootstrap(
        repository_ctx,
        program = "page_libraries",
        arguments = [],
        problem = "d3 and dagre could not be fetched (npm): set %s to a folder with %s" %
                  (_VARIABLE, ", ".join(_FILES)),
    )
    for name in _FILES:
        repository_ctx.symlink(repository_ctx.path(folder).get_child(name), name)
    repository_ctx.file("BUILD.bazel", _BUILD.format(files = repr(_FILES).replace("'", '"')))

page_libraries = repository_rule(
    implementation = _page_libraries_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "Libraries in JavaScript, with their licences.",
)
