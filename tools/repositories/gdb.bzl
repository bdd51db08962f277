# SPDX-License-Identifier: Apache-2.0
"""GDB for Arm as an external repository.

Sources, in this order: the program given by `PILOTLIGHT_GDB`; `arm-none-eabi-gdb` or
`gdb-multiarch` on PATH; Debian's packages, set up without root in the user's cache folder. (A
machine's plain `gdb` does not support Arm.)
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "PACKED_LIBRARIES", "is_packed", "write_identity", "write_launchers")

_VARIABLE = "PILOTLIGHT_GDB"
_PROGRAM = "gdb-multiarch"
_SUITE = "trixie"

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

# The program, and its libraries where they are not the machine's.
filegroup(
    name = "gdb",
    srcs = ["arm-gdb"] + glob({parts}),
    visibility = ["//visibility:public"],
)
"""

def _gdb_impl(repository_ctx):
    program = repository_ctx.os.environ.get(_VARIABLE)
    for name in ["arm-none-eabi-gdb", _PROGRAM]:
        program = program or repository_ctx.which(name)
    if not program:
        program = fetch_debian(
            repository_ctx,
            name = "gdb",
            suite = _SUITE,
            packages = [_PROGRAM],
            keep = ["usr/bin/" + _PROGRAM, "usr/lib/python3*", "usr/lib/{triplet}/*.so*"],
            checks = ["usr/bin/" + _PROGRAM],
            by_hand = "install the package gdb-multiarch, or set %s to the program" % _VARIABLE,
        ).get_child("usr/bin/" + _PROGRAM)
    program = repository_ctx.path(program)
    identity = write_identity(repository_ctx, [program])
    folder = program.dirname
    root = folder.dirname if folder.basename == "bin" else folder
    below = str(program).removeprefix(str(root) + "/")
    write_launchers(repository_ctx, identity, root, {"arm-gdb": below})
    parts = ["usr/%s*" % below, PACKED_LIBRARIES] if is_packed(program) else []
    repository_ctx.file("BUILD.bazel", _BUILD.format(parts = repr(parts)))

gdb = repository_rule(
    implementation = _gdb_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "GDB, for programs on simulated boards.",
)
