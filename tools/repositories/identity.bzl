# SPDX-License-Identifier: Apache-2.0
"""Tool fingerprints for the keys of Bazel's caches.

A key contains the content of a program's file. Three cases need more: a script starting another
program, a program with libraries of the machine, and a program given to an action only by path.
Therefore each repository of a tool has a file `identity` with the checksum of every file the tool
runs with. The repository is fetched again if one of them changes. The fingerprint gets into keys in
two ways:

- programs are started by a script of `write_launchers`, containing the fingerprint's
  checksum;
- compilers find their parts by the name they are called by; they have the file as an
  input.

Neither contains a path: the same tool in another home has the same keys. Files from
tools/bootstrap/fetch.py are also inputs, one by one. Actions then run on machines without them.
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

# File in a folder of tools/bootstrap/fetch.py; it lists the folder's packages.
_PACKAGES = "packages.json"

# Libraries of all its programs, below a repository's link `usr`.
PACKED_LIBRARIES = "usr/lib/*-linux-gnu/*.so*"

def _lines(repository_ctx, command):
    done = repository_ctx.execute(command)
    if done.return_code != 0:
        fail("%s failed: %s" % (command[0], done.stderr))
    return done.stdout.splitlines()

def absolute_paths(text):
    """Return the absolute paths in a program's output.

    Args:
        text: for example the output of ldd, or the compiler's list of read files.

    Returns:
        A list of strings, in order.
    """
    words = text.replace("\n", " ").replace("\t", " ").split(" ")
    return [word for word in words if word.startswith("/") and not word.endswith(":")]

def _prefix(path):
    """Return the package folder containing a program, None if there is none."""
    for _ in str(path).split("/"):
        path = path.dirname
        if path == None:
            return None
        if path.get_child(_PACKAGES).exists:
            return path
    return None

def is_packed(program):
    """Return whether a program is in a folder made by tools/bootstrap/fetch.py.

    Args:
        program: its path.
    """
    return _prefix(program.realpath) != None

def _files_of_programs(repository_ctx, programs):
    """Return the paths of programs and their libraries."""
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
        # For scripts and static programs, ldd reports no libraries and fails.
        listed = repository_ctx.execute(["ldd"] + plain).stdout
        files += absolute_paths(listed)
    for prefix in prefixes:
        # Programs are launchers next to them, with a loader and libraries of the prefix.
        names = ["-name", _PACKAGES, "-o", "-name", "*.elf", "-o", "-name", "*.so*"]
        files += _lines(repository_ctx, ["find", prefix, "-type", "f", "("] + names + [")"])
    return files

def write_identity(repository_ctx, programs, files = [], more = []):
    """Write the repository's file `identity`.

    The repository is fetched again if the fingerprint changes.

    Args:
        repository_ctx: of the calling rule.
        programs: paths of the tool's programs; the first prints its version.
        files: paths of other files it reads.
        more: further lines of the fingerprint.

    Returns:
        The checksum of the fingerprint.
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
    """Write scripts starting programs; they change with the tool fingerprint.

    Args:
        repository_ctx: of the calling rule; its repository gets the link `usr`. Programs
            of tools/bootstrap/fetch.py find their libraries there, also if both are
            copies.
        identity: result of `write_identity`.
        root: folder of the tool.
        programs: dict from the script's path in the repository to the program's path
            below `root`.
        elsewhere: folder used instead on a machine with only the scripts.
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
