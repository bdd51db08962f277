# SPDX-License-Identifier: Apache-2.0
"""LLVM's programs for cycle estimates, as an external repository.

Sources: the folder given by `PILOTLIGHT_LLVM`, with `bin/llvm-mca` and `bin/llvm-objdump`; else
Debian's packages, set up without root in the user's cache folder. Programs on PATH are not used:
every version has its own models, and estimates should be the same everywhere.
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "PACKED_LIBRARIES", "is_packed", "write_identity", "write_launchers")

_VARIABLE = "PILOTLIGHT_LLVM"
_PACKAGE = "llvm-19"
_SUITE = "trixie"
_FOLDER = "usr/lib/" + _PACKAGE
_PROGRAMS = ["llvm-mca", "llvm-objdump"]

# Dependencies of its other programs only: downloads of symbols, counters of this machine.
_WITHOUT = ["libcurl4t64", "libpfm4"]

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

# The programs, and their libraries where they are not the machine's.
filegroup(
    name = "llvm",
    srcs = {programs} + glob({parts}, allow_empty = True),
    visibility = ["//visibility:public"],
)
"""

def _llvm_impl(repository_ctx):
    given = repository_ctx.os.environ.get(_VARIABLE)
    if given:
        root = repository_ctx.path(given)
        below = "bin/"
    else:
        root = fetch_debian(
            repository_ctx,
            name = "llvm",
            suite = _SUITE,
            packages = [_PACKAGE],
            without = _WITHOUT,
            keep = ["%s/bin/%s" % (_FOLDER, name) for name in _PROGRAMS] + [PACKED_LIBRARIES],
            checks = ["%s/bin/%s" % (_FOLDER, name) for name in _PROGRAMS],
            by_hand = "set %s to a folder with bin/llvm-mca and bin/llvm-objdump" % _VARIABLE,
        ).get_child("usr")
        below = "lib/%s/bin/" % _PACKAGE
    programs = [root.get_child(below + name) for name in _PROGRAMS]
    missing = [str(program) for program in programs if not program.exists]
    if missing:
        fail("%s=%s: there is no %s" % (_VARIABLE, given, ", ".join(missing)))
    identity = write_identity(repository_ctx, programs)
    write_launchers(repository_ctx, identity, root, {name: below + name for name in _PROGRAMS})
    parts = ["usr/%s*" % below, PACKED_LIBRARIES] if is_packed(programs[0]) else []
    repository_ctx.file(
        "BUILD.bazel",
        _BUILD.format(parts = repr(parts), programs = repr(_PROGRAMS)),
    )

llvm = repository_rule(
    implementation = _llvm_impl,
    environ = [_VARIABLE],
    doc = "llvm-mca, which estimates cycles, and llvm-objdump.",
)
