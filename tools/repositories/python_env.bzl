# SPDX-License-Identifier: Apache-2.0
"""The Python environment of the build as an external repository and a toolchain.

Where it comes from, in this order:

1. `PILOTLIGHT_PYTHON_ENV`: a virtual environment with the packages of tools/python/requirements.txt;
2. one made from that file in the user's cache folder, with a Python of its own.

The packages of `requirements`, which a user's workspace adds, are installed beside either.

Every py_binary and py_test runs with it, so that `import torch` needs no dependency of its own. What
tests and lint import besides is in `@python_checks`, which is set up when one of them is asked for: a
program that depends on `@python_checks//:packages` may import it. `@python_docs` is the same for the site,
and `@python_proofs` for proofs on machine code.
"""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")
load("//tools/repositories:identity.bzl", "write_identity", "write_launchers")

_VARIABLE = "PILOTLIGHT_PYTHON_ENV"
_PROGRAMS = ["python3", "vela"]
_CHECKS = ["clang-format", "clang-tidy", "mypy", "ruff"]

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

load("@rules_python//python:defs.bzl", "py_runtime", "py_runtime_pair")

package(default_visibility = ["//visibility:public"])

exports_files(glob(["bin/*"]))

py_runtime(
    name = "runtime",
    # A script, which holds no path of this machine, and changes with the environment.
    interpreter = "bin/python3",
    python_version = "PY3",
    bootstrap_template = "program.sh",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
{programs}"""

_PROGRAM = """
filegroup(
    name = "{name}",
    srcs = ["bin/{name}"],
)
"""

# Python imports this file at its start. The fingerprint changes the keys of all dependents.
_SITE = """\
# identity {identity}
import sys
from pathlib import Path

_here = Path(__file__).resolve().parent / "usr"
_folder = _here if _here.exists() else Path("{elsewhere}")
sys.path.extend(map(str, _folder.glob("lib/python3.*/site-packages")))
"""

_CHECKS_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

exports_files(glob(
    ["bin/*"],
    allow_empty = True,
))

# What programs import besides the packages of the build.
py_library(
    name = "packages",
    srcs = ["sitecustomize.py"],
)
{programs}"""

def _checksum(repository_ctx, path):
    return repository_ctx.execute(["sha256sum", path]).stdout.split(" ")[0]

def _identity(repository_ctx, root):
    """Return the interpreter's fingerprint, including the recorded files of all packages."""
    records = []
    base = root.get_child("base")  # environment extended by a user's packages
    for environment in [root] + ([base] if base.exists else []):
        for python in environment.get_child("lib").readdir():
            packages = python.get_child("site-packages")
            for folder in packages.readdir() if packages.exists else []:
                record = folder.get_child("RECORD")
                if folder.basename.endswith(".dist-info") and record.exists:
                    records.append(record)
    for record in records:
        repository_ctx.watch(record)

    # Files outside of the packages are scripts with the environment's path.
    command = 'cat "$@" | grep -v "^\\.\\./" | LC_ALL=C sort | sha256sum'
    arguments = ["sh", "-c", command, "sh"] + [str(record) for record in records]
    packages = repository_ctx.execute(arguments).stdout.split(" ")[0] + "  packages"
    return write_identity(repository_ctx, [root.get_child("bin/python3")], more = [packages])

def _set_up(repository_ctx, locks, requirements = [], kind = "checks"):
    """Returns the path of the environment with the packages of the lock files."""
    arguments = []
    for option, label in zip(["--lock", "--more"], locks):
        lock = repository_ctx.path(label)
        repository_ctx.watch(lock)
        arguments += [option, lock]
    python = None
    given = repository_ctx.os.environ.get(_VARIABLE)
    if given:
        python = repository_ctx.path(given + "/bin/python3")
        if not python.exists:
            fail("%s=%s has no bin/python3" % (_VARIABLE, given))
        arguments += ["--environment", given]
    arguments += ["--kind", kind]
    for label in requirements:
        path = repository_ctx.path(label)
        repository_ctx.watch(path)
        arguments += ["--requirements", path]
    return repository_ctx.path(run_bootstrap(
        repository_ctx,
        program = "python_env",
        arguments = arguments,
        python = python,
        problem = "the Python environment could not be set up (see above)",
    ))

def _write(repository_ctx, root, lock, programs, build, files = {}):
    """Writes launchers of an environment's programs, and the BUILD file."""
    identity = _identity(repository_ctx, root)

    # It has 31,000 files, too many to be inputs: workers have it in their image.
    elsewhere = "/opt/pilotlight/python-" + _checksum(repository_ctx, repository_ctx.path(lock))[:12]
    write_launchers(
        repository_ctx,
        identity = identity,
        root = root,
        programs = {"bin/" + program: "bin/" + program for program in programs},
        elsewhere = elsewhere,
    )
    for name, text in files.items():
        repository_ctx.file(name, text.format(elsewhere = elsewhere, identity = identity))
    repository_ctx.file("BUILD.bazel", build.format(
        programs = "".join([_PROGRAM.format(name = name) for name in programs]),
    ))

_LOCK = Label("//tools/python:requirements.txt")
_LOCK_OF_CHECKS = Label("//tools/python:checks.txt")
_LOCK_OF_DOCS = Label("//tools/python:docs.txt")
_LOCK_OF_PROOFS = Label("//tools/python:proofs.txt")

def _python_env_impl(repository_ctx):
    root = _set_up(repository_ctx, [_LOCK], repository_ctx.attr.requirements)
    _write(repository_ctx, root, _LOCK, _PROGRAMS, _BUILD)
    bootstrap = repository_ctx.path(Label("//tools/repositories:program.sh"))
    repository_ctx.watch(bootstrap)
    repository_ctx.file("program.sh", repository_ctx.read(bootstrap))

python_env = repository_rule(
    implementation = _python_env_impl,
    attrs = {
        "requirements": attr.label_list(
            doc = "Requirements files: what models import besides.",
        ),
    },
    environ = [_VARIABLE, "PATH"],
    doc = "Python with every package that the build imports.",
)

def _add(repository_ctx, lock, programs, kind):
    """Writes a repository of packages beside those of the build."""
    root = _set_up(repository_ctx, [_LOCK, lock], kind = kind)
    _write(repository_ctx, root, lock, programs, _CHECKS_BUILD, {"sitecustomize.py": _SITE})

def _python_checks_impl(repository_ctx):
    _add(repository_ctx, _LOCK_OF_CHECKS, _CHECKS, "checks")

python_checks = repository_rule(
    implementation = _python_checks_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "What tests and lint import and start besides.",
)

def _python_docs_impl(repository_ctx):
    _add(repository_ctx, _LOCK_OF_DOCS, ["sphinx-build"], "docs")

python_docs = repository_rule(
    implementation = _python_docs_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "What builds the site.",
)

def _python_proofs_impl(repository_ctx):
    _add(repository_ctx, _LOCK_OF_PROOFS, [], "proofs")

python_proofs = repository_rule(
    implementation = _python_proofs_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "What proofs on machine code import.",
)
