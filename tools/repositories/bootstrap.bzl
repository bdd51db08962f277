# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of tools/bootstrap in repository rules."""

_SOURCES = [
    "buildifier",
    "cache",
    "chromium",
    "deb",
    "download",
    "fetch",
    "interpreter",
    "lock",
    "machine",
    "monocypher",
    "npm",
    "page_libraries",
    "pip",
    "prefix",
    "python_env",
    "report",
    "sources",
    "versions",
]

def run_bootstrap(repository_ctx, program, arguments, problem, python = None, must = True):
    """Run a program of tools/bootstrap and return the path it prints.

    Args:
        repository_ctx: of the calling rule.
        program: name of the Python file.
        arguments: of the program.
        problem: message for a failure; the program's own messages come first.
        python: interpreter; the default is python3 on PATH.
        must: whether a failure ends the build.

    Returns:
        The path; None if the program failed and `must` is not set.
    """
    folder = None
    for source in _SOURCES:
        script = repository_ctx.path(Label("//tools/bootstrap:%s.py" % source))
        repository_ctx.watch(script)
        folder = script.dirname
    for lock in ["debian_amd64.lock.json", "debian_arm64.lock.json"]:
        repository_ctx.watch(repository_ctx.path(Label("//tools/bootstrap:" + lock)))
    python = python or repository_ctx.which("python3")
    if not python:
        fail("python3 is not on PATH: install any version from 3.8 on")
    result = repository_ctx.path("result.txt")
    done = repository_ctx.execute(
        [python, "-m", "tools.bootstrap." + program] + arguments,
        timeout = 7200,
        environment = {
            "PILOTLIGHT_RESULT": str(result),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(folder.dirname.dirname),
        },
        quiet = False,
    )
    if done.return_code == 0:
        path = repository_ctx.read(result).strip()
        repository_ctx.delete(result)
        return path
    if must:
        fail(problem)
    return None
