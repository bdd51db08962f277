# SPDX-License-Identifier: Apache-2.0
"""Hides library messages that users cannot act on: missing GPU parts, deprecations."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGERS = ("torchao", "torch.utils._pytree")
_MODULES = ("copyreg", "torch", "torchao", "executorch")


@contextmanager
def notices_hidden() -> Iterator[None]:
    """Within the context, hide log messages and deprecations of libraries.

    The user's warnings stay.
    """
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            for module in _MODULES:
                for category in (FutureWarning, DeprecationWarning):
                    warnings.filterwarnings("ignore", category=category, module=module)
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
