# SPDX-License-Identifier: Apache-2.0
"""External dependencies of Pilotlight's builds, for a WORKSPACE and for a MODULE.bazel."""

load("//tools/repositories:arm_gnu_toolchain.bzl", "arm_gnu_toolchain")
load("//tools/repositories:buildifier.bzl", "buildifier")
load("//tools/repositories:chromium.bzl", "chromium")
load("//tools/repositories:flash_tools.bzl", "flash_tools")
load("//tools/repositories:gdb.bzl", "gdb")
load("//tools/repositories:llvm.bzl", "llvm")
load("//tools/repositories:monocypher.bzl", "monocypher")
load("//tools/repositories:page_libraries.bzl", "page_libraries")
load("//tools/repositories:python_env.bzl", "python_checks", "python_docs", "python_env", "python_proofs")
load("//tools/repositories:qemu.bzl", "qemu")
load("//tools/toolchains:host_gcc.bzl", "host_gcc")

def _declare(python_requirements):
    arm_gnu_toolchain(name = "arm_gnu_toolchain")
    buildifier(name = "buildifier")
    host_gcc(name = "host_gcc")
    chromium(name = "chromium")
    flash_tools(name = "flash_tools")
    gdb(name = "gdb")
    llvm(name = "llvm")
    monocypher(name = "monocypher")
    page_libraries(name = "page_libraries")
    python_checks(name = "python_checks")
    python_docs(name = "python_docs")
    python_env(name = "python_env", requirements = python_requirements)
    python_proofs(name = "python_proofs")
    qemu(name = "qemu")

# Labels refer to the repositories that it declares, so their names are given.
# buildifier: disable=unnamed-macro
def pilotlight_repositories(python_requirements = []):
    """Declares tools and registers toolchains in a WORKSPACE. The repository must be named `pilotlight`.

    Args:
      python_requirements: labels of requirements files with more packages for models, in addition to
        tools/python/requirements.in.
    """
    _declare(python_requirements)

    # Bazel selects the first toolchain fitting a platform: sanitizers come before plain ones.
    native.register_toolchains(
        "@python_env//:toolchain",
        "@pilotlight//tools/toolchains:host_sanitized",
        "@pilotlight//tools/toolchains:host",
        "@pilotlight//tools/toolchains:all",
    )

def _pilotlight_impl(module_ctx):
    _declare([
        label
        for module in module_ctx.modules
        for tag in module.tags.python
        for label in tag.requirements
    ])

pilotlight = module_extension(
    implementation = _pilotlight_impl,
    doc = "The same for a MODULE.bazel; Pilotlight's own registers the toolchains.",
    tag_classes = {
        "python": tag_class(
            attrs = {
                "requirements": attr.label_list(
                    mandatory = True,
                    doc = "As pilotlight_repositories has it.",
                ),
            },
        ),
    },
)
