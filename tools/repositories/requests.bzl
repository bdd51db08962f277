# SPDX-License-Identifier: Apache-2.0
"""Debian packages of the tools every image needs: arguments of `fetch_debian`.

tools/bootstrap/first_time.py reads this file as Python and fetches them in parallel to Bazel.
"""

# Programs looking for others by the name they are called by.
ARM_COMPILERS = [
    "as",
    "gcc",
    "gcc-ar",
    "gcc-nm",
    "gcc-ranlib",
    "ld",
    "ld.bfd",
]

ARM_OBJECT_TOOLS = [
    "addr2line",
    "ar",
    "nm",
    "objcopy",
    "objdump",
    "ranlib",
    "readelf",
    "size",
    "strip",
]

# C and C++ for the M profile: no library of C++, and none of other profiles.
_KEEP_OF_ARM = [
    "usr/bin/arm-none-eabi-" + program
    for program in sorted(ARM_COMPILERS + ARM_OBJECT_TOOLS)
] + [
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
    "usr/lib/gcc/arm-none-eabi/*/cc1plus",
    "usr/lib/gcc/arm-none-eabi/*/collect2",
    "usr/lib/gcc/arm-none-eabi/*/include/*.h",
    "usr/lib/gcc/arm-none-eabi/*/include-fixed/*.h",
    "usr/lib/gcc/arm-none-eabi/*/liblto_plugin.so",
    "usr/lib/gcc/arm-none-eabi/*/lto-wrapper",
    "usr/lib/gcc/arm-none-eabi/*/lto1",
    "usr/lib/gcc/arm-none-eabi/*/thumb/v*-m*/crt*.o",
    "usr/lib/gcc/arm-none-eabi/*/thumb/v*-m*/libgcc.a",
    "usr/lib/{triplet}/*.so*",
]

ARM_GNU_TOOLCHAIN = {
    "checks": ["usr/bin/arm-none-eabi-gcc", "usr/bin/arm-none-eabi-ld"],
    "keep": _KEEP_OF_ARM,
    # Links created by Debian at the installation of the package.
    "links": {
        "usr/lib/arm-none-eabi/include": "../../include/newlib",
        "usr/lib/arm-none-eabi/lib": "newlib",
    },
    "name": "arm-gnu-toolchain",
    "packages": ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"],
}

# The C++ compiler without its library: host programs use none.
HOST_GCC = {
    "checks": ["usr/bin/gcc", "usr/bin/ld"],
    "keep": [
        "usr/bin/*",
        "usr/include/*",
        "usr/lib/bfd-plugins/*",
        "usr/lib/gcc/*",
        "usr/lib/{triplet}/*",
        "usr/lib64/*",
        "lib",
        "lib64",
    ],
    "name": "host-gcc",
    "packages": ["g++-12", "gcc", "libc6-dev"],
    "without": ["libstdc++-12-dev"],
}

# Field `without`: dependencies not needed to emulate a board: firmware of other machines, sound,
# smart cards and similar parts loaded by QEMU as modules.
QEMU = {
    "checks": ["usr/bin/qemu-system-arm"],
    "keep": ["usr/bin/qemu-system-arm", "usr/lib/{triplet}/*.so*"],
    "name": "qemu",
    "packages": ["qemu-system-arm"],
    "without": [
        "ipxe-qemu",
        "libasound2t64",
        "libbrlapi0.8",
        "libcacard0",
        "libnss3",
        "libpcsclite1",
        "libsasl2-modules-db",
        "libsystemd-shared",
        "openssl-provider-legacy",
        "qemu-system-data",
        "seabios",
        "systemd",
    ],
}
