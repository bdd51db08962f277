# SPDX-License-Identifier: Apache-2.0
"""The Python environment of the build as an external repository and a toolchain.

Where it comes from, in this order:

1. `PILOTLIGHT_PYTHON_ENV`: a virtual environment with the packages of tools/python/requirements.txt;
2. one made from that file in the user's cache folder.

The packages of `requirements`, which a user's workspace adds, are installed beside either.

Every py_binary and py_test runs with it, so that `import torch` needs no dependency of its own.
"""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")
load("//tools/repositories:identity.bzl", "write_identity", "write_launchers")
load("//tools/repositories:versions.bzl", "read_versions", "version_tuple")

_VARIABLE = "PILOTLIGHT_PYTHON_ENV"
_PROGRAMS = ["clang-format", "clang-tidy", "mypy", "pip-compile", "python3", "ruff", "vela"]

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

def _python(repository_ctx, version):
    for name in ["python" + version, "python3"]:
        python = repository_ctx.which(name)
        if python:
            found = repository_ctx.execute([python, "--version"]).stdout
            if version_tuple(found)[:2] == version_tuple(version):
                return python
    return run_bootstrap(
        repository_ctx,
        program = "interpreter",
        arguments = [],
        problem = "Python %s could not be set up (see above): install it, or set %s to an environment made with it" %
                  (version, _VARIABLE),
    )

def _checksum(repository_ctx, path):
    return repository_ctx.execute(["sha256sum", path]).stdout.split(" ")[0]

def _identity(repository_ctx, root):
    """The interpreter, and what all packages have recorded of their files."""
    records = []
    base = root.get_child("base")  # what a user's packages were added to
    for environment in [root] + ([base] if base.exists else []):
        for python in environment.get_child("lib").readdir():
            packages = python.get_child("site-packages")
            for folder in packages.readdir() if packages.exists else []:
                record = folder.get_child("RECORD")
                if folder.basename.endswith(".dist-info") and record.exists:
                    records.append(record)
    for record in records:
        repository_ctx.watch(record)

    # What lies outside of the packages are scripts, which hold the environment's path.
    command = 'cat "$@" | grep -v "^\\.\\./" | LC_ALL=C sort | sha256sum'
    arguments = ["sh", "-c", command, "sh"] + [str(record) for record in records]
    packages = repository_ctx.execute(arguments).stdout.split(" ")[0] + "  packages"
    return write_identity(repository_ctx, [root.get_child("bin/python3")], more = [packages])

def _python_env_impl(repository_ctx):
    lock = repository_ctx.path(Label("//tools/python:requirements.txt"))
    repository_ctx.watch(lock)
    given = repository_ctx.os.environ.get(_VARIABLE)
    if given:
        python = repository_ctx.path(given + "/bin/python3")
        if not python.exists:
            fail("%s=%s has no bin/python3" % (_VARIABLE, given))
        arguments = ["--environment", given]
    else:
        python = _python(repository_ctx, read_versions(repository_ctx)["PYTHON_VERSION"])
        arguments = []
    for label in repository_ctx.attr.requirements:
        requirements = repository_ctx.path(label)
        repository_ctx.watch(requirements)
        arguments += ["--requirements", requirements]
    root = run_bootstrap(
        repository_ctx,
        program = "python_env",
        arguments = ["--lock", lock] + arguments,
        python = python,
        problem = "the Python environment could not be set up (see above)",
    )

    write_launchers(
        repository_ctx,
        identity = _identity(repository_ctx, repository_ctx.path(root)),
        root = root,
        programs = {"bin/" + program: "bin/" + program for program in _PROGRAMS},
        # It has 31,000 files, too many to be inputs: workers have it in their image.
        elsewhere = "/opt/pilotlight/python-" + _checksum(repository_ctx, lock)[:12],
    )
    bootstrap = repository_ctx.path(Label("//tools/repositories:program.sh"))
    repository_ctx.watch(bootstrap)
    repository_ctx.file("program.sh", repository_ctx.read(bootstrap))
    repository_ctx.file("BUILD.bazel", _BUILD.format(
        programs = "".join([_PROGRAM.format(name = name) for name in _PROGRAMS]),
    ))

python_env = repository_rule(
    implementation = _python_env_impl,
    attrs = {
        "requirements": attr.label_list(
            doc = "Requirements files: what models import besides.",
        ),
    },
    environ = [_VARIABLE, "PATH"],
    doc = "Python with every package that the build and its tests import.",
)
