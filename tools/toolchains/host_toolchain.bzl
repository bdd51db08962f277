# SPDX-License-Identifier: Apache-2.0
"""Toolchains for the host: GCC, with and without sanitizers."""

load("@host_gcc//:host_gcc.bzl", "HOST_GCC")
load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load(":gcc_toolchain_config.bzl", "gcc_toolchain_config")

def host_toolchain(name, sanitizers, constraints):
    """Make a toolchain for the host.

    Args:
      name: of the toolchain.
      sanitizers: whether every program is checked by address and undefined behaviour
        sanitizers.
      constraints: further constraints of the platform, to select this toolchain.
    """
    host = [
        "@platforms//cpu:" + HOST_GCC.cpu,
        "@platforms//os:linux",
    ]
    gcc_toolchain_config(
        name = name + "_config",
        builtin_include_directories = HOST_GCC.include_directories,
        compile_flags = HOST_GCC.compile_flags,
        # Linked programs differ if the machine's compiler or libraries do. Then a test's result is
        # not reused from a run with others.
        link_flags = HOST_GCC.link_flags + ["-lm", "-Wl,--build-id=0x" + HOST_GCC.identity],
        pic = True,
        sanitizers = sanitizers,
        target_cpu = HOST_GCC.target_cpu,
        tool_paths = HOST_GCC.tool_paths,
        tools = HOST_GCC.tools,
    )
    cc_toolchain(
        name = name + "_cc",
        all_files = "@host_gcc//:all_files",
        ar_files = "@host_gcc//:tool_files",
        compiler_files = "@host_gcc//:compiler_files",
        dwp_files = "@host_gcc//:all_files",
        linker_files = "@host_gcc//:linker_files",
        objcopy_files = "@host_gcc//:all_files",
        strip_files = "@host_gcc//:tool_files",
        supports_param_files = True,
        toolchain_config = name + "_config",
        toolchain_identifier = name,
    )
    native.toolchain(
        name = name,
        exec_compatible_with = host,
        target_compatible_with = host + constraints,
        toolchain = name + "_cc",
        toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
    )
