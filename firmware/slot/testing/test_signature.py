# SPDX-License-Identifier: Apache-2.0
"""Signatures against those of another library, and Monocypher's field elements with the patch for
small code against those of Monocypher as it is."""

import ctypes
import os
import random
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_FIELDS = """
#include "{source}"
void test_mul(i32 *h, const i32 *f, const i32 *g) {{ fe_mul(h, f, g); }}
void test_sq(i32 *h, const i32 *f) {{ fe_sq(h, f); }}
void test_mul_small(i32 *h, const i32 *f, i32 g) {{ fe_mul_small(h, f, g); }}
void test_copy(i32 *h, const i32 *f, const i32 *g, int b) {{ fe_copy(h, f); fe_ccopy(h, g, b); }}
void test_frombytes(i32 *h, const u8 *s) {{ fe_frombytes(h, s); }}
"""
_Element = ctypes.c_int32 * 10


def _library(folder: Path, name: str, text: str, *arguments: str) -> ctypes.CDLL:
    source, output = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    gcc = [os.environ.get("CC", "gcc"), "-O1", "-w", "-shared", "-fPIC", "-ftrapv"]
    subprocess.run([*gcc, source, *arguments, "-o", output], check=True)
    return ctypes.CDLL(str(output))


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[list[int]]]:
    """Calls a function of both; gives both results."""
    folder = tmp_path_factory.mktemp("fields")
    monocypher = Path(os.environ["PILOTLIGHT_MONOCYPHER"]).resolve()
    both = [
        _library(folder, name, _FIELDS.format(source=monocypher / path))
        for name, path in (("small", "monocypher.c"), ("original", "original/monocypher.c"))
    ]

    def calls(function: str, *arguments: object) -> list[list[int]]:
        found = []
        for library in both:
            result = _Element()
            getattr(library, f"test_{function}")(result, *arguments)
            found.append(list(result))
        return found

    return calls


def _limits() -> list[int]:
    """What limbs may be at most, as Monocypher's preconditions have it."""
    return [int(1.65 * 2 ** (26 - i % 2)) - 1 for i in range(10)]


def test_field_elements_are_those_of_monocypher(call: Callable[..., list[list[int]]]) -> None:
    rng = random.Random(1)
    limits = _limits()
    corners = [[sign * limit for limit in limits] for sign in (1, -1)]
    corners += [[limit * (-1) ** i for i, limit in enumerate(limits)], [0] * 10]
    drawn = [[rng.randint(-limit, limit) for limit in limits] for _ in range(3000)]
    pairs = [*product(corners, corners), *zip(drawn[1:], drawn, strict=False)]
    for element, other in pairs:
        f, g = _Element(*element), _Element(*other)
        small_factor = rng.choice((2, -2, 121666))
        copies = [("copy", f, g, is_copied) for is_copied in (0, 1)]
        for arguments in (("mul", f, g), ("sq", f), ("mul_small", f, small_factor), *copies):
            small, original = call(*arguments)
            assert small == original, (arguments[0], element)
    for data in (b"\xff" * 32, bytes(32), *(rng.randbytes(32) for _ in range(1000))):
        small, original = call("frombytes", data)
        assert small == original, data


def test_signatures_are_those_of_another_library(tmp_path: Path) -> None:
    monocypher = Path(os.environ["PILOTLIGHT_MONOCYPHER"]).resolve()
    sources = [f"firmware/slot/{name}.c" for name in ("signature", "sha512")]
    arguments = [*sources, str(monocypher / "monocypher.c"), f"-I{Path.cwd()}", f"-I{monocypher}"]
    library = _library(tmp_path, "signature", "", *arguments)
    library.pl_is_signed.restype = ctypes.c_bool
    rng = random.Random(2)
    for count in range(100):
        key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
        public, message = key.public_key().public_bytes_raw(), rng.randbytes(count)
        signature = key.sign(message)
        assert library.pl_is_signed(signature, public, message, count)
        # Any other bit, of a signature that is as long and of a message.
        bit = rng.randrange(512)
        other = (int.from_bytes(signature, "little") ^ 1 << bit).to_bytes(64, "little")
        assert not library.pl_is_signed(other, public, message, count), bit
        assert not library.pl_is_signed(signature, public, message + b"x", count + 1)
        # The other signature of the same, which has S + L.
        order = 2**252 + 27742317777372353535851937790883648493
        s = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
        assert not library.pl_is_signed(signature[:32] + s, public, message, count)
