# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for page tests, as an external repository.

Sources, in this order: the program given by `PILOTLIGHT_CHROMIUM`; `chromium-headless-shell` or
`chromium` on PATH; Debian's packages, set up without root in the user's cache folder.
"""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")
load("//tools/repositories:identity.bzl", "write_identity", "write_launchers")

_VARIABLE = "PILOTLIGHT_CHROMIUM"

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

exports_files(
    ["chromium"],
    visibility = ["//visibility:public"],
)
"""

def _chromium_impl(repository_ctx):
    program = repository_ctx.os.environ.get(_VARIABLE)
    for name in ["chromium-headless-shell", "chromium"]:
        program = program or repository_ctx.which(name)
    if not program:
        program = run_bootstrap(
            repository_ctx,
            program = "chromium",
            arguments = [],
            problem = "Chromium could not be set up: set %s to the program" % _VARIABLE,
        )
    program = repository_ctx.path(program)
    identity = write_identity(repository_ctx, [program])
    write_launchers(repository_ctx, identity, program.dirname, {"chromium": program.basename})
    repository_ctx.file("BUILD.bazel", _BUILD)

chromium = repository_rule(
    implementation = _chromium_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "A browser for tests.",
)
