# SPDX-License-Identifier: Apache-2.0
"""The host's compiler as an external repository: `CC`, or gcc on PATH."""

def _program(repository_ctx, variable, name):
    given = repository_ctx.os.environ.get(variable)
    path = repository_ctx.which(given or name)
    if not path:
        fail("%s is not on PATH; install GCC (on Debian: apt install gcc libc6-dev), or set %s" %
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

def _host_gcc_impl(repository_ctx):
    gcc = _program(repository_ctx, "CC", "gcc")
    repository_ctx.file("BUILD.bazel", "# SPDX-License-Identifier: Apache-2.0\n")
    repository_ctx.file("host_gcc.bzl", "\n".join([
        '"""What was found on this machine."""',
        "",
        "HOST_GCC = struct(",
        "    include_directories = %s," % repr(_include_directories(repository_ctx, gcc)),
        "    tool_paths = %s," % repr({
            "ar": _program(repository_ctx, "AR", "ar"),
            "gcc": gcc,
            "strip": _program(repository_ctx, "STRIP", "strip"),
        }),
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
