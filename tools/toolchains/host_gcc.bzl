# SPDX-License-Identifier: Apache-2.0
"""The host's compiler as an external repository: `CC`, or gcc on PATH."""

load("//tools/repositories:identity.bzl", "absolute_paths", "write_identity")

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

def _program(repository_ctx, variable, name):
    given = repository_ctx.os.environ.get(variable)
    path = _find(repository_ctx, given or name)
    if not path:
        fail("%s is not there; install GCC (on Debian: apt install gcc libc6-dev), or set %s" %
             (given or name, variable))
    return str(path)

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

def _identity(repository_ctx, tools):
    gcc = tools["gcc"]
    programs = [gcc] + tools.values()
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
    tools = {
        "ar": _program(repository_ctx, "AR", "ar"),
        "gcc": _program(repository_ctx, "CC", "gcc"),
        "strip": _program(repository_ctx, "STRIP", "strip"),
    }
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
        "    identity = %s," % repr(_identity(repository_ctx, tools)),
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
    doc = "GCC of this machine: `@host_gcc//:host_gcc.bzl` says where it is.",
)
