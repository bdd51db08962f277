# SPDX-License-Identifier: Apache-2.0
"""Files on a full disk; a limit of this process simulates it."""

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.text.written import written


@pytest.fixture(name="full")
def _full() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("full")
def test_no_part_of_a_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    with pytest.raises(OSError, match=f"File too large: '{path}'"), written(path):
        path.write_bytes(bytes(5000))
    assert list(tmp_path.iterdir()) == []
    with written(path):
        path.write_bytes(bytes(900))
    assert path.stat().st_size == 900


def test_a_device_stays() -> None:
    path = Path("/dev/full")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"), written(path):
        path.write_bytes(b"x")
    assert path.exists()
