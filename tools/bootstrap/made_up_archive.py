# SPDX-License-Identifier: Apache-2.0
"""A made-up Debian archive for tests: packages, a signed index, and a server on 127.0.0.1."""

from __future__ import annotations

import base64
import hashlib
import io
import lzma
import ssl
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tools.bootstrap.machine import HERE

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KEYS = {"TEST": (KEY.public_key().public_numbers().n, 65537)}


def sign(text: str, key: rsa.RSAPrivateKey = KEY) -> bytes:
    """Return a clear-signed message: RSA, SHA-512."""
    head = bytes([4, 1, 1, 10, 0, 6, 5, 2, 0, 0, 0, 0])
    data = text.replace("\n", "\r\n").encode() + head + b"\x04\xff" + len(head).to_bytes(4, "big")
    value = key.sign(data, padding.PKCS1v15(), hashes.SHA512())
    bits = int.from_bytes(value, "big").bit_length()
    packet = head + b"\0\0" + b"\0\0" + bits.to_bytes(2, "big") + value.lstrip(b"\0")
    escaped = "\n".join(f"- {line}" if line[:1] == "-" else line for line in text.split("\n"))
    armored = base64.b64encode(b"\x89" + len(packet).to_bytes(2, "big") + packet).decode()
    return (
        f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{escaped}\n"
        f"-----BEGIN PGP SIGNATURE-----\n\n{armored}\n-----END PGP SIGNATURE-----\n"
    ).encode()


def make_deb(files: Mapping[str, str]) -> bytes:
    """Return a package. Texts starting with `-> ` are symbolic links, with `=> ` hard links."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"./{name}")
            if text[:3] in ("-> ", "=> "):
                member.type = tarfile.SYMTYPE if text[0] == "-" else tarfile.LNKTYPE
                member.linkname = text[3:]
                tar.addfile(member)
            else:
                member.size = len(text)
                member.mode = 0o755 if "/bin/" in f"/{name}" else 0o644
                tar.addfile(member, io.BytesIO(text.encode()))
    deb = b"!<arch>\n"
    for name, data in (("debian-binary", b"2.0\n"), ("data.tar.xz", packed.getvalue())):
        deb += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
        deb += data + b"\n" * (len(data) % 2)
    return deb


def publish(
    folder: Path, packages: Mapping[str, tuple[str, Mapping[str, str]]], more: str = ""
) -> None:
    """Write an archive with the suite trixie.

    Args:
        folder: of the archive.
        packages: fields of the index, and files, by name.
        more: further fields of the signed message.
    """
    stanzas = []
    for name, (fields, files) in packages.items():
        file = folder / f"pool/{name}_x_amd64.deb"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(make_deb(files))
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        stanzas.append(
            f"Package: {name}\n{fields}\nFilename: pool/{file.name}\n"
            f"Size: {file.stat().st_size}\nSHA256: {sha256}\n"
        )
    index = lzma.compress("\n".join(stanzas).encode())
    suite = folder / "dists/trixie"
    path = f"main/binary-{HERE.debian}/Packages.xz"
    (suite / path).parent.mkdir(parents=True, exist_ok=True)
    (suite / path).write_bytes(index)
    row = f" {hashlib.sha256(index).hexdigest()} {len(index)} {path}"
    date = "Date: Sat, 28 Nov 2026 20:17:55 UTC"
    (suite / "InRelease").write_bytes(sign(f"Codename: trixie\n{date}\n{more}SHA256:\n{row}"))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve a folder, with a certificate if there is a context, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    try:
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
