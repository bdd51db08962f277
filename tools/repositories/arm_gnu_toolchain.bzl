# SPDX-License-Identifier: Apache-2.0
"""The Arm GNU toolchain as an external repository.

Where it comes from, in this order:

1. `PILOTLIGHT_ARM_GNU_TOOLCHAIN`: a folder with `bin/arm-none-eabi-gcc`;
2. `arm-none-eabi-gcc` on PATH, if it is recent enough and has newlib-nano;
3. Debian's packages, set up without root in the user's cache folder.
"""

load("//tools/platforms:cores.bzl", "CORES", "core_flags")
load("//tools/repositories:debian.bzl", "fetch_debian")
load("//tools/repositories:identity.bzl", "PACKED_LIBRARIES", "is_packed", "write_identity", "write_launchers")
load("//tools/repositories:requests.bzl", "ARM_COMPILERS", "ARM_GNU_TOOLCHAIN", "ARM_OBJECT_TOOLS")
load("//tools/repositories:versions.bzl", "read_versions", "version_tuple")

_VARIABLE = "PILOTLIGHT_ARM_GNU_TOOLCHAIN"

# Further programs called by gcc.
_PARTS = ["as", "cc1", "cc1plus", "collect2", "ld", "lto-wrapper", "lto1"]

def _on_path(repository_ctx, minimum):
    gcc = repository_ctx.which("arm-none-eabi-gcc")
    if not gcc:
        return None
    version = repository_ctx.execute([gcc, "-dumpfullversion"]).stdout
    specs = repository_ctx.execute([gcc, "-print-file-name=nano.specs"]).stdout.strip()
    if version_tuple(version) < minimum or not specs.startswith("/"):
        return None
    return gcc.realpath.dirname.dirname

def _present(root, programs):
    """Return the path of each existing program of the toolchain, by its path below `root`."""
    names = ["bin/arm-none-eabi-" + program for program in programs]
    return {name: root.get_child(name) for name in names if root.get_child(name).exists}

def _identity(repository_ctx, root):
    programs = _present(root, ARM_COMPILERS + ARM_OBJECT_TOOLS).values()
    gcc = root.get_child("bin/arm-none-eabi-gcc")
    for part in _PARTS:
        path = repository_ctx.execute([gcc, "-print-prog-name=" + part]).stdout.strip()
        if path.startswith("/") and repository_ctx.path(path).exists:
            programs.append(path)
    return write_identity(repository_ctx, [gcc] + programs)

def _multilibs(repository_ctx):
    """Return the folder of each core's libraries below the common one, with a slash in front."""
    gcc = "usr/bin/arm-none-eabi-gcc"
    folders = {}
    for core in CORES:
        done = repository_ctx.execute([gcc] + core_flags(core) + ["-print-multi-directory"])
        folder = done.stdout.strip("./\n")
        folders[core] = "/" + folder if folder else ""
    return folders

def _arm_gnu_toolchain_impl(repository_ctx):
    versions = read_versions(repository_ctx)
    minimum = version_tuple(versions["ARM_GNU_TOOLCHAIN_VERSION"])
    given = repository_ctx.os.environ.get(_VARIABLE)
    if given:
        root = repository_ctx.path(given)
        if not root.get_child("bin/arm-none-eabi-gcc").exists:
            fail("%s=%s has no bin/arm-none-eabi-gcc" % (_VARIABLE, given))
    else:
        root = _on_path(repository_ctx, minimum)
    if not root:
        root = fetch_debian(
            repository_ctx,
            suite = versions["ARM_GNU_TOOLCHAIN_SUITE"],
            by_hand = "install the Arm GNU toolchain %s or later and set %s to its folder" %
                      (versions["ARM_GNU_TOOLCHAIN_VERSION"], _VARIABLE),
            **ARM_GNU_TOOLCHAIN
        ).get_child("usr")

    write_launchers(
        repository_ctx,
        identity = _identity(repository_ctx, root),
        root = root,
        programs = {name: name for name in _present(root, ARM_OBJECT_TOOLS)},
    )
    for name, path in _present(root, ARM_COMPILERS).items():
        repository_ctx.symlink(path, name)

    version = repository_ctx.execute(["usr/bin/arm-none-eabi-gcc", "-dumpfullversion"])
    if version.return_code != 0:
        fail("%s does not run: %s" % (root.get_child("bin/arm-none-eabi-gcc"), version.stderr))
    repository_ctx.file(
        "version.bzl",
        '"""Version of GCC."""\n\nGCC_VERSION = %s\n' % repr(version_tuple(version.stdout)),
    )
    packed = is_packed(root.get_child("bin/arm-none-eabi-gcc"))
    repository_ctx.template(
        "BUILD.bazel",
        Label("//tools/repositories:arm_gnu_toolchain.BUILD"),
        substitutions = {
            "{libraries}": PACKED_LIBRARIES if packed else "",
            "{multilibs}": repr(_multilibs(repository_ctx)),
        },
    )

arm_gnu_toolchain = repository_rule(
    implementation = _arm_gnu_toolchain_impl,
    environ = [_VARIABLE, "PATH"],
    doc = "Arm GNU toolchain (arm-none-eabi) for C and C++ on Cortex-M.",
)
