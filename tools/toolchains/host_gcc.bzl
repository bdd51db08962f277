# SPDX-License-Identifier: Apache-2.0
"""The host's compiler as an external repository.

Where it comes from, in this order: `CC`; gcc on PATH, if it can link; Debian's packages, set up
without root in the user's cache folder.
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "absolute_paths", "write_identity")
load("//tools/repositories:versions.bzl", "read_versions")

# Programs that gcc calls.
_PARTS = ["as", "cc1", "collect2", "ld", "lto-wrapper"]

# Stands for what is compiled: includes what the host's programs include, is linked with what they
# are linked with.
_PROBE = """\
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { return 0; }
"""

_SANITIZED = ["-fsanitize=address,undefined"]

def _find(repository_ctx, name):
    """Returns the path of a program that is named as a path or is on PATH, None if there is none."""
    path = repository_ctx.path(name) if "/" in name else repository_ctx.which(name)
    return path if path and path.exists else None

# Debian's gcc takes programs and headers from folders of the machine unless told otherwise. Headers
# keep the machine's names, so that keys and debug information hold no path of the cache. The machine
# has no libraries for sanitizers: they become part of programs.
_PACKED_GCC = """\
#!/bin/sh
root={root}
exec "$root/usr/bin/gcc" --sysroot="$root" -B"$root/usr/bin" -ffile-prefix-map="$root/usr/bin/../=/usr/" \\
    -ffile-prefix-map="$root=" -static-libasan -static-libubsan "$@"
"""

_KEEP = [
    "usr/bin/*",
    "usr/include/*",
    "usr/lib/bfd-plugins/*",
    "usr/lib/gcc/*",
    "usr/lib/x86_64-linux-gnu/*",
    "usr/lib64/*",
    "lib",
    "lib64",
]

def _links(repository_ctx, gcc):
    """Returns whether there is a C library to compile for: gcc alone has none."""
    repository_ctx.file("probe.c", _PROBE)
    done = repository_ctx.execute([gcc, "probe.c", "-o", "probe"])
    repository_ctx.delete("probe.c")
    repository_ctx.delete("probe")
    return done.return_code == 0

def _packed(repository_ctx):
    root = fetch_debian(
        repository_ctx,
        name = "host-gcc",
        suite = read_versions(repository_ctx)["HOST_GCC_SUITE"],
        packages = ["gcc", "libc6-dev"],
        keep = _KEEP,
        checks = ["usr/bin/gcc", "usr/bin/ld"],
        by_hand = "install GCC (on Debian: apt install gcc libc6-dev), or set CC, AR and STRIP",
    )
    repository_ctx.file("gcc", _PACKED_GCC.format(root = "'%s'" % root), executable = True)
    return {
        "ar": str(root.get_child("usr/bin/ar")),
        "gcc": str(repository_ctx.path("gcc")),
        "strip": str(root.get_child("usr/bin/strip")),
    }

def _tools(repository_ctx):
    """Returns paths of ar, gcc and strip, and whether gcc is Debian's."""
    found = {}
    for variable, name in {"AR": "ar", "CC": "gcc", "STRIP": "strip"}.items():
        given = repository_ctx.os.environ.get(variable)
        path = _find(repository_ctx, given or name)
        if given and not path:
            fail("%s=%s is not there" % (variable, given))
        if path:
            found[name] = str(path)
    given = "CC" in repository_ctx.os.environ
    if len(found) == 3 and (given or _links(repository_ctx, found["gcc"])):
        return found, False
    packed = _packed(repository_ctx)
    if given:
        return packed | found, False
    return packed, True

def _include_directories(repository_ctx, gcc):
    done = repository_ctx.execute([gcc, "-E", "-x", "c", "-", "-v", "-o", "/dev/null"])
    if done.return_code != 0:
        fail("%s does not compile: %s" % (gcc, done.stderr))
    _, _, listed = done.stderr.partition("#include <...> search starts here:\n")
    listed, _, _ = listed.partition("End of search list.")
    folders = []
    for line in listed.splitlines():
        folders.append(str(repository_ctx.path(line.strip())))
        folders.append(str(repository_ctx.path(line.strip()).realpath))
    return {folder: None for folder in folders}.keys()

def _files_read(repository_ctx, gcc):
    """Returns the headers, libraries and start-up files that a compilation and a link read."""
    repository_ctx.file("probe.c", _PROBE)
    found = []
    for arguments, must in [
        (["-M", "probe.c"], True),
        (["-c", "probe.c", "-o", "probe.o"], True),
        (["probe.o", "-lm", "-o", "probe", "-Wl,--trace"], True),
        # Not every machine has the sanitizers' libraries.
        (_SANITIZED + ["probe.o", "-lm", "-o", "probe", "-Wl,--trace"], False),
    ]:
        done = repository_ctx.execute([gcc] + arguments)
        if must and done.return_code != 0:
            fail("%s does not compile (on Debian: apt install libc6-dev): %s" % (gcc, done.stderr))
        found += absolute_paths(done.stdout)
    for name in ["probe.c", "probe.o", "probe"]:
        repository_ctx.delete(name)
    return [path for path in found if repository_ctx.path(path).exists]

def _identity(repository_ctx, tools, packed):
    gcc = tools["gcc"]

    # A script with the cache's path starts Debian's gcc: the same in another home has the same keys.
    programs = [tools["strip"].removesuffix("strip") + "gcc"] if packed else [gcc, gcc]
    programs += [tools["ar"], tools["strip"]]
    for name in _PARTS:
        part = repository_ctx.execute([gcc, "-print-prog-name=" + name]).stdout.strip()
        path = _find(repository_ctx, part or name)
        if path:
            programs.append(path)
    return write_identity(
        repository_ctx,
        programs = programs,
        files = _files_read(repository_ctx, gcc),
        more = [_PACKED_GCC.replace("\n", " ")] if packed else [],
    )

def _host_gcc_impl(repository_ctx):
    tools, packed = _tools(repository_ctx)
    repository_ctx.file("BUILD.bazel", "\n".join([
        "# SPDX-License-Identifier: Apache-2.0",
        "",
        'exports_files(["identity"])',
        "",
    ]))
    repository_ctx.file("host_gcc.bzl", "\n".join([
        '"""What was found on this machine."""',
        "",
        "HOST_GCC = struct(",
        "    identity = %s," % repr(_identity(repository_ctx, tools, packed)),
        "    include_directories = %s," % repr(_include_directories(repository_ctx, tools["gcc"])),
        "    tool_paths = %s," % repr(tools),
        ")",
        "",
    ]))

host_gcc = repository_rule(
    implementation = _host_gcc_impl,
    configure = True,
    environ = [
        "AR",
        "CC",
        "PATH",
        "STRIP",
    ],
    local = True,
    doc = "GCC for programs of this machine: `@host_gcc//:host_gcc.bzl` has its paths.",
)
