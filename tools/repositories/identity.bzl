# SPDX-License-Identifier: Apache-2.0
"""What a tool is, for the keys of Bazel's caches.

A key holds the content of a program's file. That says little where the file is a script that starts
another program, where the program loads libraries of the machine, or where an action names it only
by its path. So each repository of a tool has a file `identity` with the checksum of every file that
the tool runs with, and is fetched anew when one of them changes. It gets into keys in two ways:

- programs are started by a script of `write_launchers`, which holds the identity's own checksum;
- compilers, which find their parts by the name that they are called by, have the file as an input.

Neither holds a path: the same tool in another home has the same keys. What tools/bootstrap/fetch.py
set up is an input besides, file by file, so that actions run on machines that have none of it.
"""

_IDENTITY = "identity"

_LAUNCHER = """\
#!/bin/sh
# identity {identity}
self=$(readlink -f "$0")
root=${{self%/*}}/{up}usr
{elsewhere}root=$(readlink -f "$root")
exec "$root/{program}" "$@"
"""

_ELSEWHERE = """\
[ -e "$root" ] || root={folder}
[ -e "$root" ] || {{ echo "this machine has no {folder} (docs/scale.md)" >&2; exit 1; }}
"""

# Lies in a folder that tools/bootstrap/fetch.py made, and says from what.
_PACKAGES = "packages.json"

# The libraries of all programs that it made, below a repository's link `usr`.
PACKED_LIBRARIES = "usr/lib/x86_64-linux-gnu/*.so*"

def _lines(repository_ctx, command):
    done = repository_ctx.execute(command)
    if done.return_code != 0:
        fail("%s failed: %s" % (command[0], done.stderr))
    return done.stdout.splitlines()

def absolute_paths(text):
    """Returns the absolute paths that a program has printed.

    Args:
        text: for example what ldd says, or the compiler of what it reads.

    Returns:
        A list of strings, in order.
    """
    words = text.replace("\n", " ").replace("\t", " ").split(" ")
    return [word for word in words if word.startswith("/") and not word.endswith(":")]

def _prefix(path):
    """Returns the folder of packages that a program lies in, None if it lies in none."""
    for _ in str(path).split("/"):
        path = path.dirname
        if path == None:
            return None
        if path.get_child(_PACKAGES).exists:
            return path
    return None

def is_packed(program):
    """Returns whether a program lies in a folder that tools/bootstrap/fetch.py made.

    Args:
        program: its path.
    """
    return _prefix(program.realpath) != None

def _files_of_programs(repository_ctx, programs):
    """Returns the paths of all that programs run with: themselves, their libraries."""
    prefixes = {}
    plain = []
    for program in programs:
        path = repository_ctx.path(program).realpath
        prefix = _prefix(path)
        if prefix:
            prefixes[str(prefix)] = None
        else:
            plain.append(str(path))
    files = list(plain)
    if plain:
        # Says of scripts and static programs that they have no libraries, and fails.
        listed = repository_ctx.execute(["ldd"] + plain).stdout
        files += absolute_paths(listed)
    for prefix in prefixes:
        # Programs are launchers beside them, with a loader and libraries of the prefix.
        names = ["-name", _PACKAGES, "-o", "-name", "*.elf", "-o", "-name", "*.so*"]
        files += _lines(repository_ctx, ["find", prefix, "-type", "f", "("] + names + [")"])
    return files

def write_identity(repository_ctx, programs, files = [], more = []):
    """Writes the repository's file `identity`, and has it fetched anew when the identity changes.

    Args:
        repository_ctx: of the calling rule.
        programs: paths of the tool's programs; the first says its version.
        files: paths of other files that it reads.
        more: lines that say what it is besides.

    Returns:
        The checksum of the identity.
    """
    listed = _files_of_programs(repository_ctx, programs) + [str(path) for path in files]
    paths = {str(repository_ctx.path(path).realpath): None for path in listed}
    for path in paths:
        repository_ctx.watch(path)
    identity = []
    for line in _lines(repository_ctx, ["sha256sum"] + sorted(paths)):
        checksum, _, path = line.partition("  ")

        # No folder of this machine: the same tool in another place is the same.
        identity.append("%s  %s" % (checksum, path.split("/")[-1]))
    version = repository_ctx.execute([programs[0], "--version"]).stdout.splitlines()[:1]
    repository_ctx.file(_IDENTITY, "\n".join(version + sorted(identity + more)) + "\n", executable = False)
    return _lines(repository_ctx, ["sha256sum", _IDENTITY])[0].split(" ")[0]

def write_launchers(repository_ctx, identity, root, programs, elsewhere = None):
    """Writes scripts that start programs and change with the tool's identity.

    Args:
        repository_ctx: of the calling rule; its repository gets the link `usr`, under which programs
            of tools/bootstrap/fetch.py find their libraries, also where both are copies.
        identity: what `write_identity` returned.
        root: folder of the tool.
        programs: dict from the script's path in the repository to the program's path below `root`.
        elsewhere: folder that a machine has instead which gets the scripts alone.
    """
    repository_ctx.symlink(root, "usr")
    for script, program in programs.items():
        text = _LAUNCHER.format(
            elsewhere = _ELSEWHERE.format(folder = elsewhere) if elsewhere else "",
            identity = identity,
            program = program,
            up = "../" * script.count("/"),
        )
        repository_ctx.file(script, text, executable = True)
