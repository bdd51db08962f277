# SPDX-License-Identifier: Apache-2.0
"""Writes a lowered model to files. A file is written completely or not changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

from aot.artefact.artefact import Artefact
from aot.artefact.vectors import save_npz
from aot.errors import LoweringError
from aot.plan.pte import keep_program
from tools.text.written import written


def save_artefact(
    lowered: Artefact, output: Path, report: Path | None, program: Path | None
) -> None:
    """Write the .pte, or the file of another exporter, and all other requested files.

    Raises:
      LoweringError: a file cannot be written.
    """
    with _saved(output):
        output.write_bytes(lowered.pte if lowered.exported is None else lowered.exported)
    if report is not None:
        with _saved(report):
            report.write_text(json.dumps(lowered.report, indent=1) + "\n")
    if program is not None:
        with _saved(program):
            keep_program(program, lowered.pte)
    logging.info("wrote %s", output)


def save_vectors(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write the vectors made by `make_vectors`.

    Raises:
      LoweringError: the file cannot be written.
    """
    with _saved(path):
        save_npz(str(path), arrays)


@contextmanager
def _saved(path: Path) -> Iterator[None]:
    """Within the context, write a file completely; else raise LoweringError with its name."""
    try:
        with written(path):
            yield
    except OSError as error:
        raise LoweringError(f"cannot write {error.filename}: {error.strerror}") from error
