# SPDX-License-Identifier: Apache-2.0
"""Names forbidden for Python packages of another workspace, if our programs import them."""

load("@rules_python//python:defs.bzl", "PyInfo")

_OURS = Label("//tools/python:package_names.bzl").workspace_name
_PACKAGES = ["aot", "boards", "firmware", "kernels", "npu", "tools"]

def _hidden(ctx, file, roots):
    """Return our package hidden by a file in Python's import order, if there is one."""
    path = file.short_path
    path = path[len("../"):] if path.startswith("../") else "%s/%s" % (ctx.workspace_name, path)
    for root in [path.partition("/")[0]] + roots:
        for package in _PACKAGES:
            if path == "%s/%s/__init__.py" % (root, package):
                return package
    return None

def _package_names_impl(ctx):
    for dep in ctx.attr.deps:
        if PyInfo not in dep:
            continue
        roots = dep[PyInfo].imports.to_list()
        for file in dep[PyInfo].transitive_sources.to_list():
            if file.owner.workspace_name == _OURS:
                continue
            hidden = _hidden(ctx, file, roots)
            if hidden:
                fail(("%s: with this file, Python finds this folder in place of Pilotlight's package %s. " +
                      "Leave it out of %s: without it both folders are one package (docs/outside.md)") %
                     (file.short_path, hidden, dep.label))
    return [DefaultInfo()]

package_names = rule(
    implementation = _package_names_impl,
    doc = "Fails if one of `deps` has a file that hides a package of ours. It is no file itself: `data` of a program.",
    attrs = {"deps": attr.label_list()},
)
