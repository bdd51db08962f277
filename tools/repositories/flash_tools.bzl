# SPDX-License-Identifier: Apache-2.0
"""Flash tools as an external repository, for tests of their command lines.

Sources: the folder given by `PILOTLIGHT_FLASH_TOOLS`, containing `usr/bin`; else Debian's packages,
set up without root in the user's cache folder. The tools on PATH are for boards, and tests do not
use them.
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "PACKED_LIBRARIES", "is_packed", "write_identity", "write_launchers")

_VARIABLE = "PILOTLIGHT_FLASH_TOOLS"
_SUITE = "trixie"
_PACKAGES = ["openocd", "stlink-tools", "dfu-util", "bossa-cli"]
_PROGRAMS = ["openocd", "st-flash", "dfu-util", "bossac"]
_SCRIPTS = "usr/share/openocd/scripts/"

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

# The programs, what OpenOCD knows of probes and chips, and libraries where they are not the machine's.
filegroup(
    name = "flash_tools",
    srcs = {programs} + glob({parts}, allow_empty = True),
    visibility = ["//visibility:public"],
)
"""

def _flash_tools_impl(repository_ctx):
    folder = repository_ctx.os.environ.get(_VARIABLE)
    if not folder:
        folder = fetch_debian(
            repository_ctx,
            name = "flash-tools",
            suite = _SUITE,
            packages = _PACKAGES,
            without = ["python3"],
            keep = ["usr/bin/" + name for name in _PROGRAMS] +
                   ["usr/lib/{triplet}/*.so*", _SCRIPTS + "*"],
            checks = ["usr/bin/openocd", "usr/bin/st-flash"],
            by_hand = "set %s to a folder with usr/bin/openocd and %s" % (_VARIABLE, ", ".join(_PROGRAMS[1:])),
        )
    root = repository_ctx.path(folder).get_child("usr")
    programs = [root.get_child("bin").get_child(name) for name in _PROGRAMS]
    identity = write_identity(repository_ctx, programs)
    write_launchers(repository_ctx, identity, root, {name: "bin/" + name for name in _PROGRAMS})
    parts = [
        _SCRIPTS + "*.tcl",
        _SCRIPTS + "interface/*.cfg",
        _SCRIPTS + "target/*",
    ]
    if is_packed(programs[0]):
        parts += ["usr/bin/%s*" % name for name in _PROGRAMS] + [PACKED_LIBRARIES]
    repository_ctx.file(
        "BUILD.bazel",
        _BUILD.format(parts = repr(parts), programs = repr(_PROGRAMS)),
    )

flash_tools = repository_rule(
    implementation = _flash_tools_impl,
    environ = [_VARIABLE],
    doc = "OpenOCD, st-flash, dfu-util and bossac, for tests.",
)
