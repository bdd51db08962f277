# SPDX-License-Identifier: Apache-2.0
"""Verify clear-signed messages of Debian's archive with the standard library alone.

Debian signs each suite's index with several keys. At least one of them must be in debian_keys.txt.
The signatures are RSA, version 4 of OpenPGP (RFC 4880, sections 5.2.4 and 7).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

KEYS_FILE = Path(__file__).parent / "debian_keys.txt"

# OpenPGP's number of a hash: its name, and PKCS #1's prefix of the digest.
_HASHES = {
    8: ("sha256", bytes.fromhex("3031300d060960864801650304020105000420")),
    9: ("sha384", bytes.fromhex("3041300d060960864801650304020205000430")),
    10: ("sha512", bytes.fromhex("3051300d060960864801650304020305000440")),
}
_RSA = (1, 3)
_SIGNATURE, _TEXT = 2, 1
_SIGNED = re.compile(
    rb"\A-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:[^\r\n]+\r?\n)*\r?\n(?P<text>.*?)"
    rb"\r?\n-----BEGIN PGP SIGNATURE-----\r?\n(?:[^\r\n]+\r?\n)*?\r?\n(?P<signature>.*?)"
    rb"(?:\r?\n=[A-Za-z0-9+/]{4})?\r?\n-----END PGP SIGNATURE-----\s*\Z",
    re.DOTALL,
)


class SignatureError(Exception):
    """No trusted key has signed the message."""


def read_keys(path: Path = KEYS_FILE) -> dict[str, tuple[int, int]]:
    """Return modulus and exponent by fingerprint.

    Args:
        path: file with lines `FINGERPRINT EXPONENT MODULUS`, the modulus in base64.
    """
    keys = {}
    for line in path.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            fingerprint, exponent, modulus = line.split()
            keys[fingerprint] = (int.from_bytes(base64.b64decode(modulus), "big"), int(exponent))
    return keys


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and body of each packet (RFC 4880, section 4.2)."""
    at = 0
    while at < len(data):
        head = data[at]
        at += 1
        if head & 0x40:
            tag, first = head & 0x3F, data[at]
            if first < 192:
                size, at = first, at + 1
            elif first < 224:
                size, at = ((first - 192) << 8) + data[at + 1] + 192, at + 2
            elif first == 255:
                size, at = int.from_bytes(data[at + 1 : at + 5], "big"), at + 5
            else:
                raise SignatureError("the signature has partial packets")
        else:
            tag, width = (head >> 2) & 0xF, 1 << (head & 3)
            if width == 8:
                raise SignatureError("the signature has a packet without a length")
            size, at = int.from_bytes(data[at : at + width], "big"), at + width
        yield tag, data[at : at + size]
        at += size


def _signer(body: bytes, text: bytes, keys: Mapping[str, tuple[int, int]]) -> str | None:
    """Return the fingerprint of the signing key, None if it is not in `keys`."""
    version, kind, algorithm, hash_number = body[:4]
    if version != 4 or kind != _TEXT or algorithm not in _RSA or hash_number not in _HASHES:
        return None
    hashed = 6 + int.from_bytes(body[4:6], "big")
    rest = hashed + 2 + int.from_bytes(body[hashed : hashed + 2], "big") + 2
    bits = int.from_bytes(body[rest : rest + 2], "big")
    signature = int.from_bytes(body[rest + 2 : rest + 2 + (bits + 7) // 8], "big")
    name, prefix = _HASHES[hash_number]
    trailer = b"\x04\xff" + hashed.to_bytes(4, "big")
    digest = hashlib.new(name, text + body[:hashed] + trailer).digest()
    for fingerprint, (modulus, exponent) in keys.items():
        size = (modulus.bit_length() + 7) // 8
        if signature >= modulus:
            continue
        padding = b"\xff" * (size - 3 - len(prefix) - len(digest))
        found = pow(signature, exponent, modulus).to_bytes(size, "big")
        if hmac.compare_digest(found, b"\x00\x01" + padding + b"\x00" + prefix + digest):
            return fingerprint
    return None


def verify(data: bytes, keys: Mapping[str, tuple[int, int]]) -> tuple[str, set[str]]:
    """Return the text of a clear-signed message and the fingerprints of its signers.

    Raises:
        SignatureError: no key of `keys` has signed it.
    """
    match = _SIGNED.match(data)
    if not match:
        raise SignatureError("the file is not a signed message")
    lines = match["text"].replace(b"\r\n", b"\n").split(b"\n")
    lines = [line[2:] if line.startswith(b"- ") else line for line in lines]
    text = b"\r\n".join(line.rstrip(b" \t") for line in lines)
    try:
        bodies = [
            body
            for tag, body in _packets(base64.b64decode(match["signature"]))
            if tag == _SIGNATURE
        ]
        signers = {_signer(body, text, keys) for body in bodies} - {None}
    except (IndexError, ValueError) as error:
        raise SignatureError(f"its signature is damaged: {error}") from error
    if not signers:
        raise SignatureError(f"no known key signed it ({', '.join(sorted(keys))})")
    return text.replace(b"\r\n", b"\n").decode("utf-8"), {str(name) for name in signers}
