# SPDX-License-Identifier: Apache-2.0
"""C sources of plans, kernels and the runtime in a library and its dependencies."""

SourcesInfo = provider(
    "C sources and headers.",
    fields = {"files": "Depset of Files: of a target and all below it."},
)

def _sources_impl(_target, ctx):
    files = []
    for name in ["srcs", "hdrs", "textual_hdrs"]:
        files += [
            file
            for file in getattr(ctx.rule.files, name, [])
            if file.extension in ["c", "h"]
        ]
    package = ctx.label.package
    of_plan = any([file.basename.endswith(".plan.c") for file in files])
    if not (of_plan or package.startswith("kernels/") or package == "firmware/runtime"):
        files = []
    below = []
    for name in ["deps", "library", "source"]:
        targets = getattr(ctx.rule.attr, name, [])
        below += targets if type(targets) == "list" else [targets]
    return [SourcesInfo(files = depset(
        files,
        transitive = [one[SourcesInfo].files for one in below if SourcesInfo in one],
    ))]

sources_aspect = aspect(
    implementation = _sources_impl,
    attr_aspects = ["deps", "library", "source"],
)
