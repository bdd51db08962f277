# SPDX-License-Identifier: Apache-2.0
"""QEMU for Arm as an external repository.

Sources, in this order:

1. `PILOTLIGHT_QEMU`: the program `qemu-system-arm`, or a folder with it (or with
   `bin/` and it), or a Debian suite with it ("bookworm"); it may be older than the
   others;
2. `qemu-system-arm` on PATH, if it is recent enough;
3. Debian's packages, set up without root in the user's cache folder.
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "PACKED_LIBRARIES", "is_packed", "write_identity", "write_launchers")
load("//tools/repositories:requests.bzl", "QEMU")
load("//tools/repositories:versions.bzl", "read_versions", "version_tuple")

_VARIABLE = "PILOTLIGHT_QEMU"
_PROGRAM = "qemu-system-arm"

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

package(default_visibility = ["//visibility:public"])

exports_files([
    "qemu-system-arm",
    "version.bzl",
])

# The program, and its libraries where they are not the machine's.
filegroup(
    name = "qemu",
    srcs = ["qemu-system-arm"] + glob({parts}),
)
"""

def _version(repository_ctx, program):
    done = repository_ctx.execute([program, "--version"])
    return version_tuple(done.stdout) if done.return_code == 0 else ()

def _given(repository_ctx, given):
    for name in ["", _PROGRAM, "bin/" + _PROGRAM]:
        path = repository_ctx.path(given + "/" + name if name else given)
        if path.exists and _version(repository_ctx, path):
            return path
    fail("%s=%s is no %s and has none" % (_VARIABLE, given, _PROGRAM))

def _of_debian(repository_ctx, suite):
    return fetch_debian(
        repository_ctx,
        suite = suite,
        by_hand = "install the package qemu-system-arm, or set %s to the program" % _VARIABLE,
        **QEMU
    ).get_child("usr/bin/" + _PROGRAM)

def _qemu_impl(repository_ctx):
    versions = read_versions(repository_ctx)
    given = repository_ctx.os.environ.get(_VARIABLE)
    minimum = versions["QEMU_OLDEST_VERSION" if given else "QEMU_MINIMUM_VERSION"]
    if given:
        program = _given(repository_ctx, given) if "/" in given else _of_debian(repository_ctx, given)
    else:
        program = repository_ctx.which(_PROGRAM)
        if not program or _version(repository_ctx, program) < version_tuple(minimum):
            program = _of_debian(repository_ctx, versions["QEMU_SUITE"])
    version = _version(repository_ctx, program)
    if version < version_tuple(minimum):
        fail("%s is version %s; at least %s is needed" % (
            program,
            ".".join([str(part) for part in version]),
            minimum,
        ))
    identity = write_identity(repository_ctx, [program])
    folder = program.dirname
    root = folder.dirname if folder.basename == "bin" else folder
    below = str(program).removeprefix(str(root) + "/")
    write_launchers(repository_ctx, identity, root, {_PROGRAM: below})
    parts = ["usr/%s*" % below, PACKED_LIBRARIES] if is_packed(program) else []
    repository_ctx.file(
        "version.bzl",
        '"""Version of QEMU."""\n\nQEMU_VERSION = %s\n' % repr(version),
    )
    repository_ctx.file("BUILD.bazel", _BUILD.format(parts = repr(parts)))

qemu = repository_rule(
    implementation = _qemu_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "QEMU's emulator of Arm boards.",
)
