# SPDX-License-Identifier: Apache-2.0
"""Ethos-U payloads of a file: a payload by itself, or the delegates of a .pte."""

from __future__ import annotations

from pathlib import Path

from aot.pte.conventions import PteError
from aot.pte.reader import delegate_payloads
from npu.ethos_u.payload import MAGIC, PayloadError

_BACKEND = "EthosUBackend"


def read_payloads(path: Path) -> list[bytes]:
    """Return the payloads of a file: itself, if it is one, else the Ethos-U delegates of a .pte."""
    data = path.read_bytes()
    if data.startswith(MAGIC):
        return [data]
    if data[4:6] != b"ET":
        raise PayloadError(f"{path} must be a payload (vela_bin_stream) or a .pte file")
    try:
        return delegate_payloads(data, _BACKEND)
    except PteError as error:
        raise PayloadError(f"{path} {error}") from error
