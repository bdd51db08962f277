# SPDX-License-Identifier: Apache-2.0
"""Proxies, and certificates of a company, by the usual variables."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tools.bootstrap import download, sources
from tools.bootstrap.download import read_url
from tools.bootstrap.made_up_archive import served
from tools.bootstrap.report import SetupError


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without variables, whose apt has a proxy that is not there."""
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    for name in ("http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(download, "read_proxies_of_apt", lambda: {"http": "http://127.0.0.1:9"})
    sources.read_logins.cache_clear()
    yield
    sources.read_logins.cache_clear()


def test_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A proxy is asked for whole addresses.
    file = tmp_path / "http:/mirror.example/pool/x"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"by proxy")
    with served(tmp_path) as address:
        with pytest.raises(SetupError, match="refused"):
            read_url("http://mirror.example/pool/x")
        monkeypatch.setattr(download, "read_proxies_of_apt", lambda: {"http": address})
        assert read_url("http://mirror.example/pool/x") == b"by proxy"
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        with pytest.raises(SetupError, match="refused"):
            read_url("http://mirror.example/pool/x")
        monkeypatch.setenv("http_proxy", address)
        assert read_url("http://mirror.example/pool/x") == b"by proxy"
        (tmp_path / "x").write_bytes(b"direct")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert read_url(f"{address}/x") == b"direct"


def _certificate(folder: Path) -> Path:
    """Write a certificate of 127.0.0.1 and its key to one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "company")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "company.pem"
    path.write_bytes(built.public_bytes(pem) + secret)
    return path


def test_certificate_of_a_company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = _certificate(tmp_path)
    (tmp_path / "x").write_bytes(b"private")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with served(tmp_path, context) as address:
        with pytest.raises(SetupError, match="CERTIFICATE_VERIFY_FAILED"):
            read_url(f"{address}/x")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert read_url(f"{address}/x") == b"private"
