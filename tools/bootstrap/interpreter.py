# SPDX-License-Identifier: Apache-2.0
"""Set up the Python of the build's environment from Debian's packages.

The machine's own Python runs this folder, from version 3.8 on. The environment has the version of
tools/versions.env, the same on every machine, independent of PATH.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.lock import locked_packages
from tools.bootstrap.prefix import LIBRARIES, fetch, prune, wrap_programs
from tools.bootstrap.report import give, run, run_main, say
from tools.bootstrap.versions import read_versions

# Increase this when the conversion of packages into a Python changes.
RECIPE = 1

# Libraries expected by wheels on the machine (PEP 600), and pip.
_BESIDES = ["libstdc++6", "libgcc-s1", "libgomp1", "zlib1g", "python3-pip-whl"]
_WITHOUT = ["media-types", "debconf", "ca-certificates", "tzdata", "openssl"]
_KEEP = [
    "usr/bin/python3*",
    "usr/lib/python3*",
    f"{LIBRARIES}/*",
    "usr/share/python-wheels/*",
    "packages.json",
]
_TRIAL = "import bz2, ctypes, hashlib, lzma, sqlite3, ssl, sys, venv, zlib; print(sys.executable)"

# Debian's OpenSSL looks for certificates in Debian's folder. Others: Fedora, SUSE, Arch.
_CERTIFICATES = """\
if [ -z "${SSL_CERT_FILE:-}${SSL_CERT_DIR:-}" ] && [ ! -e /usr/lib/ssl/certs ]; then
    for f in /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem \\
        /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e "$f" ] || { export SSL_CERT_FILE="$f"; break; }
    done
fi
"""


def _packages(version: str) -> list[str]:
    return [f"python{version}", *_BESIDES]


def _make(version: str, suite: str, work: Path, result: Path) -> None:
    say(f"setting up Python {version} without root (once; 64 MB on disk)")
    fetch(work, result, suite, _packages(version), _WITHOUT)
    prune(result, _KEEP)
    wrap_programs(result)
    program = result / f"usr/bin/python{version}"
    first, _, rest = program.read_text().partition("\n")
    program.write_text(f"{first}\n{_CERTIFICATES}{rest}")
    run("trying Python", [program, "-I", "-c", _TRIAL])
    run("compiling Python's library", [program, "-I", "-m", "compileall", "-q", result / "usr/lib"])


def find_python() -> Path:
    """Return the Python used to create the environment.

    Raises:
        SetupError: it cannot be set up.
    """
    versions = read_versions()
    return set_up_python(versions["PYTHON_VERSION"], versions["PYTHON_SUITE"])


def set_up_python(version: str, suite: str) -> Path:
    """Return a Python of a Debian suite.

    Raises:
        SetupError: it cannot be set up.
    """
    locked = locked_packages(suite, _packages(version), _WITHOUT)
    made = make_once(
        f"python-{version}-{locked.name(RECIPE)}",
        lambda work, result: _make(version, suite, work, result),
    )
    return made / f"usr/bin/python{version}"


if __name__ == "__main__":
    sys.exit(run_main("Python", lambda: give(find_python())))
