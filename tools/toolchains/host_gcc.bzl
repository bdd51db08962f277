# SPDX-License-Identifier: Apache-2.0
"""Host compiler as an external repository.

Sources, in this order: the variable `CC`, with `AR` and `STRIP`; Debian's packages, set up without
root in the user's cache folder. The machine's own compiler is not used: keys of Bazel's caches are
the same on every machine.

Actions take Debian's compiler as inputs, like the compiler for boards.
"""

load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "absolute_paths", "write_identity")
load("//tools/repositories:requests.bzl", "HOST_GCC")
load("//tools/repositories:versions.bzl", "read_versions")

# Programs called by gcc.
_PARTS = ["as", "cc1", "collect2", "ld", "lto-wrapper"]

# Stands for compiled programs: it includes their headers and is linked with their libraries.
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

# Debian's gcc takes programs, headers and libraries from folders of the machine by default. If
# --sysroot is set, it writes absolute paths of headers.
_COMPILE_FLAGS = ["-B{root}/usr/bin", "-nostdinc"]

# The machine has no libraries for sanitizers: they become part of programs.
_LINK_FLAGS = [
    "--sysroot={root}",
    "-B{root}/usr/bin",
    "-L{root}/linker_scripts",
    "-static-libasan",
    "-static-libubsan",
]

# These libraries are scripts that name files by absolute paths. ld takes them from --sysroot if the
# script lies there, but in Bazel's sandbox it is a link to a file elsewhere. Names without a folder
# are looked for among the libraries.
_LINKER_SCRIPTS = ["libc.so", "libm.so"]

# For programs calling the tools by themselves.
_PACKED = """\
#!/bin/sh
root=$(readlink -f "$0")
root=${{root%/bin/{name}}}
exec "$root/usr/bin/{name}" {flags}"$@"
"""

_GIVEN = """\
#!/bin/sh
exec '{path}' "$@"
"""

# Name of Bazel's Java: constraint of @platforms, folder of outputs.
_CPUS = {"aarch64": ("aarch64", "aarch64"), "amd64": ("x86_64", "k8")}

_TOOLS = {"AR": "ar", "CC": "gcc", "STRIP": "strip"}

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

package(default_visibility = ["//visibility:public"])

exports_files(
    ["bin/ar", "bin/gcc", "bin/strip", "host_gcc.bzl", "identity"] + glob(["usr/bin/*"], allow_empty = True),
)

# Tests that call the tools by themselves do so on the machine that they were set up on.
[
    filegroup(
        name = name,
        srcs = ["bin/" + name],
        data = ["identity"],
    )
    for name in ["ar", "gcc", "strip"]
]

# What a compilation to an object file may read.
filegroup(
    name = "compiler_files",
    srcs = ["identity"] + glob(
        [
            "usr/bin/*as",
            "usr/bin/*as.elf",
            "usr/bin/gcc",
            "usr/bin/*gcc-[0-9]*",
            "usr/include/*.h",
            "usr/include/asm-generic/*.h",
            "usr/include/linux/*.h",
            "usr/include/*-linux-gnu/**/*.h",
            "usr/lib/gcc/*-linux-gnu/*/cc1*",
            "usr/lib/gcc/*-linux-gnu/*/include/**/*.h",
            "usr/lib/*-linux-gnu/*.so*",
        ],
        allow_empty = True,
    ),
)

filegroup(
    name = "linker_files",
    srcs = ["identity"] + glob(
        [
            "linker_scripts/*",
            "usr/bin/gcc",
            "usr/bin/*gcc-[0-9]*",
            "usr/bin/*ld",
            "usr/bin/*ld.bfd*",
            "usr/lib/gcc/*-linux-gnu/*/*.a",
            "usr/lib/gcc/*-linux-gnu/*/*.o",
            "usr/lib/gcc/*-linux-gnu/*/*.so",
            "usr/lib/gcc/*-linux-gnu/*/*.spec",
            "usr/lib/gcc/*-linux-gnu/*/collect2*",
            "usr/lib/gcc/*-linux-gnu/*/lto-wrapper*",
            "usr/lib/*-linux-gnu/*",
            "usr/lib64/*",
        ],
        allow_empty = True,
    ),
)

filegroup(
    name = "tool_files",
    srcs = ["identity"] + glob(
        ["usr/bin/*ar", "usr/bin/*ar.elf", "usr/bin/*strip*", "usr/lib/*-linux-gnu/*.so*"],
        allow_empty = True,
    ),
)

filegroup(
    name = "all_files",
    srcs = [":compiler_files", ":linker_files", ":tool_files"],
)
"""

def _find(repository_ctx, name):
    """Return the path of a program given as a path or found on PATH, None if there is none."""
    path = repository_ctx.path(name) if "/" in name else repository_ctx.which(name)
    return path if path and path.exists else None

def _packed(repository_ctx):
    """Returns the compiler of Debian's packages."""
    folder = fetch_debian(
        repository_ctx,
        suite = read_versions(repository_ctx)["HOST_GCC_SUITE"],
        by_hand = "install GCC, and set CC, AR and STRIP to the programs",
        **HOST_GCC
    )
    for name in ["lib", "lib64", "usr"]:
        repository_ctx.symlink(folder.get_child(name), name)
    (compilers,) = folder.get_child("usr/lib/gcc").readdir()
    triplet = compilers.basename
    for name in _LINKER_SCRIPTS:
        text = repository_ctx.read(folder.get_child("usr/lib/%s/%s" % (triplet, name)))
        for place in ["usr/lib/" + triplet, "lib/" + triplet, "lib64", "lib"]:
            text = text.replace(" /%s/" % place, " ")
        repository_ctx.file("linker_scripts/" + name, text)
    for name in _TOOLS.values():
        flags = " ".join(_LINK_FLAGS).format(root = '"$root"') + " " if name == "gcc" else ""
        text = _PACKED.format(flags = flags, name = name)
        repository_ctx.file("bin/" + name, text, executable = True)
    identity = write_identity(repository_ctx, programs = [folder.get_child("usr/bin/gcc")])
    root = "external/" + repository_ctx.name
    version = compilers.readdir()[0]
    headers = ["lib/gcc/%s/%s/include" % (triplet, version.basename), "include/" + triplet, "include"]
    compile_flags = [flag.format(root = root) for flag in _COMPILE_FLAGS]
    for name in headers:
        compile_flags += ["-isystem", "%s/usr/%s" % (root, name)]
    return struct(
        compile_flags = compile_flags,
        identity = identity,
        include_directories = [],
        link_flags = [flag.format(root = root) for flag in _LINK_FLAGS],
        tool_paths = {},
        tools = {"@host_gcc//:usr/bin/" + name: name for name in _TOOLS.values()},
    )

def _given(repository_ctx):
    """Return the compiler given by `CC`."""
    tools = {}
    for variable, name in _TOOLS.items():
        given = repository_ctx.os.environ.get(variable) or name
        path = _find(repository_ctx, given)
        if not path:
            fail("%s=%s is not there" % (variable, given))
        tools[name] = str(path)
        repository_ctx.file("bin/" + name, _GIVEN.format(path = path), executable = True)
    return struct(
        compile_flags = [],
        identity = _identity(repository_ctx, tools),
        include_directories = _include_directories(repository_ctx, tools["gcc"]),
        link_flags = [],
        tool_paths = tools,
        tools = {},
    )

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
    """Return the headers, libraries and start-up files read by a compilation and a link."""
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

def _identity(repository_ctx, tools):
    gcc = tools["gcc"]
    programs = [gcc, gcc, tools["ar"], tools["strip"]]
    for name in _PARTS:
        part = repository_ctx.execute([gcc, "-print-prog-name=" + name]).stdout.strip()
        path = _find(repository_ctx, part or name)
        if path:
            programs.append(path)
    return write_identity(
        repository_ctx,
        programs = programs,
        files = _files_read(repository_ctx, gcc),
    )

def _host_gcc_impl(repository_ctx):
    given = repository_ctx.os.environ.get("CC")
    found = _given(repository_ctx) if given else _packed(repository_ctx)
    cpu, target_cpu = _CPUS[repository_ctx.os.arch]
    repository_ctx.file("BUILD.bazel", _BUILD)
    repository_ctx.file("host_gcc.bzl", "\n".join([
        '"""The compiler for programs of this machine."""',
        "",
        "HOST_GCC = struct(",
        "    cpu = %r," % cpu,
        "    target_cpu = %r," % target_cpu,
    ] + [
        "    %s = %s," % (name, repr(getattr(found, name)))
        for name in dir(found)
        if name not in ["to_json", "to_proto"]
    ] + [")", ""]))

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
