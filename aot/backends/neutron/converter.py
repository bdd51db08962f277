# SPDX-License-Identifier: Apache-2.0
"""Call of NXP's converter in a process of its own: it may crash or never end.

The converter is a part of eIQ Neutron SDK, available from NXP only. The search covers the Python of
lowering, and the one in the environment variable PILOTLIGHT_NEUTRON_PYTHON.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from absl import logging

from aot.backends.npus import Neutron
from aot.errors import LoweringError

PYTHON = "PILOTLIGHT_NEUTRON_PYTHON"
SDK = "eiq_neutron_sdk"
TIME_LIMIT_S = 600.0
_WORKER = Path(__file__).with_name("sdk_worker.py")
_SHOWN_LINES = 20
_INSTALL = (
    f"install NXP's package {SDK} for a Python and name that in the environment variable {PYTHON} "
    '(docs/neutron.md), or lower with neutron = "auto", which leaves everything to the CPU'
)


def absent() -> str:
    """Return the reason why the converter cannot be called, and the remedy; "" if it can be."""
    python = os.environ.get(PYTHON, "")
    if not python:
        found = importlib.util.find_spec(SDK) is not None
        return "" if found else f"NXP's eIQ Neutron SDK ({SDK}) is not installed here: {_INSTALL}"
    asked = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({SDK!r}) is None)"
    try:
        status = subprocess.run(
            [python, "-c", asked], env=_environment(python), capture_output=True, check=False
        )
    except OSError as error:
        return f"{PYTHON}={python} cannot be run: {error.strerror}"
    return f"{PYTHON}={python} has no {SDK}: {_INSTALL}" if status.returncode else ""


def convert(tflite: bytes, part: Neutron, time_limit_s: float = TIME_LIMIT_S) -> bytes:
    """Return the converter's result for a .tflite file; its output is in the log.

    Args:
      tflite: of int8 values.
      part: the target.
      time_limit_s: after so many seconds it is ended.

    Raises:
      LoweringError: it fails, gives nothing, or does not end.
    """
    python = os.environ.get(PYTHON, "") or sys.executable
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "region.tflite", Path(folder) / "neutron.tflite"
        source.write_bytes(tflite)
        fetch = "1" if part.fetches_weights else "0"
        command = [python, str(_WORKER), part.sdk_target, fetch, str(source), str(output)]
        printed = _run(command, folder, time_limit_s)
        if not output.is_file() or output.stat().st_size == 0:
            raise _failed("writes no output file", printed)
        return output.read_bytes()


def _run(command: list[str], folder: str, time_limit_s: float) -> str:
    """Run a process, and all its children, to the end; return the output."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(command[0]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=time_limit_s)
    except subprocess.TimeoutExpired as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
        raise _failed(f"did not end within {time_limit_s:g} s", printed) from error
    for line in printed.splitlines():
        logging.info("neutron: %s", line)
    if process.returncode < 0:
        raise _failed(f"was ended by signal {-process.returncode}", printed)
    if process.returncode > 0:
        raise _failed(f"fails with status {process.returncode}", printed)
    return printed


def _environment(python: str) -> dict[str, str]:
    """Return the environment; another Python has packages of its own."""
    own: set[str] = set() if python == sys.executable else {"PYTHONPATH", "PYTHONHOME"}
    return {key: value for key, value in os.environ.items() if key not in own}


def _failed(what: str, printed: str) -> LoweringError:
    lines = printed.splitlines()[-_SHOWN_LINES:]
    said = "".join(f"\n  {line}" for line in lines) or " nothing"
    return LoweringError(f"NXP's converter {what}; it printed:{said}")
