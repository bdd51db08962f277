# SPDX-License-Identifier: Apache-2.0
"""The Arm GNU toolchain as an external repository.

Where it comes from, in this order:

1. `PILOTLIGHT_ARM_GNU_TOOLCHAIN`: a folder with `bin/arm-none-eabi-gcc`;
2. `arm-none-eabi-gcc` on PATH, if it is recent enough and has newlib-nano;
3. Debian's packages, set up without root in the user's cache folder.
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:versions.bzl", "read_versions", "version_tuple")

_VARIABLE = "PILOTLIGHT_ARM_GNU_TOOLCHAIN"

# Folders that a toolchain consists of, in Arm's own layout and in Debian's.
_FOLDERS = [
    "arm-none-eabi",
    "include/newlib",
    "lib/arm-none-eabi",
    "lib/gcc/arm-none-eabi",
    "libexec/gcc/arm-none-eabi",
]

_PROGRAMS = [
    "addr2line",
    "ar",
    "as",
    "gcc",
    "gcc-ar",
    "gcc-nm",
    "gcc-ranlib",
    "ld",
    "ld.bfd",
    "nm",
    "objcopy",
    "objdump",
    "ranlib",
    "readelf",
    "size",
    "strip",
]

# C for the M profile: no C++ and no libraries of other profiles (of 960 MB, 190 stay).
_KEEP = ["usr/bin/arm-none-eabi-" + program for program in _PROGRAMS] + [
    "usr/bin/arm-none-eabi-gcc-[0-9]*",
    "usr/include/newlib/*",
    "usr/lib/arm-none-eabi/bin/*",
    "usr/lib/arm-none-eabi/ldscripts/armelf.*",
    "usr/lib/arm-none-eabi/newlib/nano.specs",
    "usr/lib/arm-none-eabi/newlib/nosys.specs",
    "usr/lib/arm-none-eabi/newlib/rdimon.specs",
    "usr/lib/arm-none-eabi/newlib/thumb/v*-m*/*crt0.o",
    "usr/lib/arm-none-eabi/newlib/thumb/v*-m*/lib[cgm].a",
    "usr/lib/arm-none-eabi/newlib/thumb/v*-m*/lib[cg]_nano.a",
    "usr/lib/arm-none-eabi/newlib/thumb/v*-m*/libnosys.a",
    "usr/lib/arm-none-eabi/newlib/thumb/v*-m*/librdimon.a",
    "usr/lib/arm-none-eabi/newlib/thumb/v*-m*/librdimon_nano.a",
    "usr/lib/gcc/arm-none-eabi/*/cc1",
    "usr/lib/gcc/arm-none-eabi/*/collect2",
    "usr/lib/gcc/arm-none-eabi/*/include/*.h",
    "usr/lib/gcc/arm-none-eabi/*/include-fixed/*.h",
    "usr/lib/gcc/arm-none-eabi/*/liblto_plugin.so",
    "usr/lib/gcc/arm-none-eabi/*/lto-wrapper",
    "usr/lib/gcc/arm-none-eabi/*/lto1",
    "usr/lib/gcc/arm-none-eabi/*/thumb/v*-m*/crt*.o",
    "usr/lib/gcc/arm-none-eabi/*/thumb/v*-m*/libgcc.a",
    "usr/lib/x86_64-linux-gnu/*.so*",
]

def _on_path(repository_ctx, minimum):
    gcc = repository_ctx.which("arm-none-eabi-gcc")
    if not gcc:
        return None
    version = repository_ctx.execute([gcc, "-dumpfullversion"]).stdout
    specs = repository_ctx.execute([gcc, "-print-file-name=nano.specs"]).stdout.strip()
    if version_tuple(version) < minimum or not specs.startswith("/"):
        return None
    return gcc.realpath.dirname.dirname

def _arm_gnu_toolchain_impl(repository_ctx):
    versions = read_versions(repository_ctx)
    minimum = version_tuple(versions["ARM_GNU_TOOLCHAIN_VERSION"])
    given = repository_ctx.os.environ.get(_VARIABLE)
    if given:
        root = repository_ctx.path(given)
        if not root.get_child("bin/arm-none-eabi-gcc").exists:
            fail("%s=%s has no bin/arm-none-eabi-gcc" % (_VARIABLE, given))
    else:
        root = _on_path(repository_ctx, minimum)
    if not root:
        root = fetch_debian(
            repository_ctx,
            name = "arm-gnu-toolchain",
            suite = versions["ARM_GNU_TOOLCHAIN_SUITE"],
            packages = ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"],
            keep = _KEEP,
            # The links that Debian makes when it installs the package.
            links = {
                "usr/lib/arm-none-eabi/include": "../../include/newlib",
                "usr/lib/arm-none-eabi/lib": "newlib",
            },
            checks = ["usr/bin/arm-none-eabi-gcc", "usr/bin/arm-none-eabi-ld"],
            by_hand = "install the Arm GNU toolchain %s or later and set %s to its folder" %
                      (versions["ARM_GNU_TOOLCHAIN_VERSION"], _VARIABLE),
        ).get_child("usr")

    for program in _PROGRAMS:
        path = root.get_child("bin/arm-none-eabi-" + program)
        if path.exists:
            repository_ctx.symlink(path, "bin/arm-none-eabi-" + program)
    for folder in _FOLDERS:
        path = root.get_child(folder)
        if path.exists:
            repository_ctx.symlink(path, folder)

    version = repository_ctx.execute(["bin/arm-none-eabi-gcc", "-dumpfullversion"])
    if version.return_code != 0:
        fail("%s does not run: %s" % (root.get_child("bin/arm-none-eabi-gcc"), version.stderr))
    repository_ctx.file(
        "version.bzl",
        '"""Version of GCC."""\n\nGCC_VERSION = %s\n' % repr(version_tuple(version.stdout)),
    )
    repository_ctx.template("BUILD.bazel", Label("//tools/repositories:arm_gnu_toolchain.BUILD"))

arm_gnu_toolchain = repository_rule(
    implementation = _arm_gnu_toolchain_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "Arm GNU toolchain (arm-none-eabi) for C on Cortex-M.",
)
