# SPDX-License-Identifier: Apache-2.0
"""Signatures against those of another library."""

import ctypes
import os
import random
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def test_signatures_are_those_of_another_library(tmp_path: Path) -> None:
    monocypher = Path(os.environ["PILOTLIGHT_MONOCYPHER"]).resolve()
    sources = [f"firmware/slot/{name}.c" for name in ("signature", "sha512")]
    arguments = [*sources, str(monocypher / "monocypher.c"), f"-I{Path.cwd()}", f"-I{monocypher}"]
    gcc = [os.environ.get("CC", "gcc"), "-O1", "-w", "-shared", "-fPIC", "-ftrapv"]
    output = tmp_path / "signature.so"
    subprocess.run([*gcc, *arguments, "-o", output], check=True)
    library = ctypes.CDLL(str(output))
    library.pl_is_signed.restype = ctypes.c_bool
    rng = random.Random(2)
    for count in range(100):
        key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
        public, message = key.public_key().public_bytes_raw(), rng.randbytes(count)
        signature = key.sign(message)
        assert library.pl_is_signed(signature, public, message, count)
        # Any other bit, of a signature of the same length and of a message.
        bit = rng.randrange(512)
        other = (int.from_bytes(signature, "little") ^ 1 << bit).to_bytes(64, "little")
        assert not library.pl_is_signed(other, public, message, count), bit
        assert not library.pl_is_signed(signature, public, message + b"x", count + 1)
        # The second signature of the same message, with S + L.
        order = 2**252 + 27742317777372353535851937790883648493
        s = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
        assert not library.pl_is_signed(signature[:32] + s, public, message, count)
