# SPDX-License-Identifier: Apache-2.0
"""The lock file's update: signatures, indexes and dependencies of a made-up archive."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tools.bootstrap import archive, download
from tools.bootstrap.archive import Archive
from tools.bootstrap.lock import Request, lock_file, read_lock
from tools.bootstrap.machine import ARCHITECTURES, HERE, Architecture
from tools.bootstrap.made_up_archive import KEYS, publish, sign
from tools.bootstrap.openpgp import SignatureError, read_keys, verify
from tools.bootstrap.report import SetupError

PACKAGES: dict[str, tuple[str, dict[str, str]]] = {
    "tool": (
        "Version: 1.0\nPre-Depends: library (>= 2)\n"
        "Depends: other | library, perl:any, virtual | nothing",
        {},
    ),
    "library": ("Version: 2:2.0-1\nDepends: tool", {}),
    "other": ("Version: 1", {}),
    "real": ("Version: 3\nProvides: virtual (= 3), more", {}),
    "broken": ("Version: 1\nDepends: nothing", {}),
}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    publish(tmp_path, PACKAGES)
    monkeypatch.setattr(archive, "read_keys", lambda: KEYS)
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    return tmp_path


def resolve(mirror: Path, *packages: str, expired: bool = False) -> dict[str, str]:
    locked = Archive(mirror.as_uri(), "trixie", expired).resolve(
        Request.of("trixie", packages, ["perl"])
    )
    assert locked.date == "20261129T081755Z"
    return {package.name: package.version for package in locked.closure}


def test_dependencies(mirror: Path) -> None:
    assert resolve(mirror, "tool") == {"tool": "1.0", "library": "2:2.0-1", "real": "3"}
    assert set(resolve(mirror, "tool", "other")) == {"tool", "library", "other", "real"}


@pytest.mark.parametrize("package", ["broken", "nothing"])
def test_package_that_the_suite_lacks(mirror: Path, package: str) -> None:
    with pytest.raises(SetupError, match="Debian trixie has no package nothing"):
        resolve(mirror, package)


def test_changed_release_is_refused(mirror: Path) -> None:
    file = mirror / "dists/trixie/InRelease"
    file.write_bytes(file.read_bytes().replace(b"main/", b"evil/"))
    with pytest.raises(SetupError, match="InRelease: no known key signed it .TEST"):
        resolve(mirror, "tool")


def test_changed_index_is_refused(mirror: Path) -> None:
    file = mirror / f"dists/trixie/main/binary-{HERE.debian}/Packages.xz"
    file.write_bytes(file.read_bytes()[::-1])
    with pytest.raises(SetupError, match=r"Packages\.xz has the wrong checksum"):
        resolve(mirror, "tool")


def test_expired_index_is_refused(mirror: Path) -> None:
    publish(mirror, PACKAGES, "Valid-Until: Sat, 01 Jan 2022 00:00:00 UTC\n")
    with pytest.raises(SetupError, match="was valid until Sat, 01 Jan 2022"):
        resolve(mirror, "tool")
    assert resolve(mirror, "tool", expired=True)["tool"] == "1.0"


def test_other_suite_is_refused(mirror: Path) -> None:
    (mirror / "dists/forky").symlink_to("trixie")
    with pytest.raises(SetupError, match="dists/forky is Debian trixie; forky is needed"):
        Archive(mirror.as_uri(), "forky")


def test_one_pinned_signer_is_a_warning(mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resolve(mirror, "tool")
    assert "warning: of 1 pinned keys only TEST signed" in capsys.readouterr().err


def test_signature_of_somebody_else() -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert verify(sign("Hello\n- you"), KEYS) == ("Hello\n- you", {"TEST"})
    with pytest.raises(SignatureError, match="no known key signed it .TEST"):
        verify(sign("Hello", other), KEYS)


@pytest.mark.parametrize(
    "change", [lambda data: data[:-60], lambda data: data + b"more", lambda data: b"x" + data]
)
def test_message_around_the_signed_one(change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(SignatureError):
        verify(change(sign("Hello")), KEYS)


def test_damaged_signature() -> None:
    data = sign("Hello")
    at = data.index(b"SIGNATURE-----\n\n") + 16
    for byte in range(0, 340, 7):
        damaged = data[: at + byte] + bytes([data[at + byte] ^ 1]) + data[at + byte + 1 :]
        with pytest.raises(SignatureError):
            verify(damaged, KEYS)


def test_pinned_keys_are_of_4096_bits() -> None:
    keys = read_keys()
    assert [modulus.bit_length() for modulus, _ in keys.values()] == [4096] * len(keys)
    assert len(keys) >= 2


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=lambda each: each.debian)
def test_every_locked_package_has_a_checksum_and_a_suite(architecture: Architecture) -> None:
    found = read_lock(lock_file(architecture))
    assert set(found) == set(read_lock())
    for request, locked in found.items():
        assert locked.closure
        assert set(request.packages) <= {package.name for package in locked.closure}
        assert set(request.without).isdisjoint(package.name for package in locked.closure)
        assert len(locked.date) == 16
        for package in locked.closure:
            assert len(bytes.fromhex(package.sha256)) == 32
            assert package.path.startswith("pool/main/")
            assert package.path.endswith((f"_{architecture.debian}.deb", "_all.deb"))
