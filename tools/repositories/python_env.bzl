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
    interpreter_path = "{root}/bin/python3",
    python_version = "PY3",
    # In the stub of every Python program, and so in the keys of all that run one.
    stub_shebang = "#!{root}/bin/python3\\n# identity {identity}",
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
    fail("Python %s is not on PATH: install it, or set %s to an environment made with it" %
         (version, _VARIABLE))

def _identity(repository_ctx, root):
    """The interpreter, and what each package has recorded of its files."""
    records = []
    base = root.get_child("base")  # what a user's packages were added to
    for environment in [root] + ([base] if base.exists else []):
        for python in environment.get_child("lib").readdir():
            packages = python.get_child("site-packages")
            for folder in packages.readdir() if packages.exists else []:
                record = folder.get_child("RECORD")
                if folder.basename.endswith(".dist-info") and record.exists:
                    records.append(record)
    return write_identity(repository_ctx, [root.get_child("bin/python3")], records)

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

    identity = _identity(repository_ctx, repository_ctx.path(root))
    write_launchers(
        repository_ctx,
        identity,
        root,
        {"bin/" + program: "bin/" + program for program in _PROGRAMS},
    )
    repository_ctx.file("BUILD.bazel", _BUILD.format(
        identity = identity,
        root = root,
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
