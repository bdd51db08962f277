# SPDX-License-Identifier: Apache-2.0
"""buildifier as an external repository; it formats BUILD and .bzl files.

Sources, in this order: the program given by `PILOTLIGHT_BUILDIFIER`; `buildifier` on PATH, if it is
recent enough; npm. If it is not available, the lint test using it fails with the reason; the rest
of the build continues.
"""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")
load("//tools/repositories:identity.bzl", "write_identity", "write_launchers")
load("//tools/repositories:versions.bzl", "read_versions", "version_tuple")

_VARIABLE = "PILOTLIGHT_BUILDIFIER"

_BUILD = """\
# SPDX-License-Identifier: Apache-2.0

exports_files(
    ["buildifier"],
    visibility = ["//visibility:public"],
)
"""

_MISSING = """\
#!/bin/sh
echo "buildifier could not be fetched (needs the npm registry); set {variable} to the program" >&2
exit 1
"""

def _recent(repository_ctx, program, minimum):
    version = repository_ctx.execute([program, "--version"])
    return version.return_code == 0 and version_tuple(version.stdout) >= minimum

def _buildifier_impl(repository_ctx):
    minimum = version_tuple(read_versions(repository_ctx)["BUILDIFIER_VERSION"])
    given = repository_ctx.os.environ.get(_VARIABLE)
    if given and not repository_ctx.path(given).exists:
        fail("%s=%s does not exist" % (_VARIABLE, given))
    program = given or repository_ctx.which("buildifier")
    if not given and program and not _recent(repository_ctx, program, minimum):
        program = None
    if not program:
        program = run_bootstrap(
            repository_ctx,
            program = "buildifier",
            arguments = [],
            problem = "buildifier could not be set up",
            must = False,
        )
    if program:
        program = repository_ctx.path(program)
        identity = write_identity(repository_ctx, [program])
        write_launchers(
            repository_ctx,
            identity,
            program.dirname,
            {"buildifier": program.basename},
        )
    else:
        repository_ctx.file("buildifier", _MISSING.format(variable = _VARIABLE), executable = True)
    repository_ctx.file("BUILD.bazel", _BUILD)

buildifier = repository_rule(
    implementation = _buildifier_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "Formatter and linter of BUILD and .bzl files.",
)
