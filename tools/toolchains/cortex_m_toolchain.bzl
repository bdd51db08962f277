# SPDX-License-Identifier: Apache-2.0
"""Toolchains for Cortex-M: GCC for arm-none-eabi, one toolchain a core."""

load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load("//tools/platforms:cores.bzl", "core_flags")
load(":gcc_toolchain_config.bzl", "gcc_toolchain_config")

def cortex_m_toolchain(name):
    """Make the toolchain for a core.

    The C library is the ordinary newlib, not newlib-nano: kernels use memcpy and similar functions,
    and nano's are small and slow.

    Args:
      name: the core, as -mcpu names it.
    """
    core = name
    options = core_flags(core)
    gcc_toolchain_config(
        name = core + "_config",
        # One syntax of assembly for every core; GCC's default for Armv6-M is an older one.
        compile_flags = options + ["-masm-syntax-unified"],
        link_flags = options + ["-nostartfiles", "-static", "-Wl,--build-id=none"],
        target_cpu = core,
        tools = {
            "@arm_gnu_toolchain//:bin/arm-none-eabi-ar": "ar",
            "@arm_gnu_toolchain//:usr/bin/arm-none-eabi-gcc": "gcc",
            "@arm_gnu_toolchain//:bin/arm-none-eabi-strip": "strip",
        },
    )
    cc_toolchain(
        name = core + "_cc",
        all_files = "@arm_gnu_toolchain//:all_files",
        ar_files = "@arm_gnu_toolchain//:ar_files",
        compiler_files = "@arm_gnu_toolchain//:compiler_files",
        dwp_files = "@arm_gnu_toolchain//:all_files",
        linker_files = "@arm_gnu_toolchain//:linker_files_" + core,
        objcopy_files = "@arm_gnu_toolchain//:all_files",
        strip_files = "@arm_gnu_toolchain//:all_files",
        supports_param_files = True,
        toolchain_config = core + "_config",
        toolchain_identifier = core,
    )
    native.toolchain(
        name = core,
        target_compatible_with = [
            "@platforms//os:none",
            "//tools/platforms/core:" + core,
        ],
        toolchain = core + "_cc",
        toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
    )
