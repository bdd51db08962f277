# SPDX-License-Identifier: Apache-2.0
"""Dead graphs are freed while lower() runs in a loop, and the collector is left as it was."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import pytest
import torch
from torch import nn

from aot.accept import gc_pause
from aot.accept.gc_pause import gc_paused
from aot.lower import lower
from aot.options import Measure


def _graphs() -> list[weakref.ref[Any]]:
    samples = list(torch.randn((4, 1, 8), generator=torch.Generator().manual_seed(3)))
    net = nn.Linear(8, 4).eval()
    result = lower(
        net, samples[0], calibration=samples, measure=Measure(per_op=False, min_sqnr=-math.inf)
    )
    return [weakref.ref(g) for g in (result.floats, result.quantized, result.folded, result.module)]


def test_dead_graphs_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc_pause, "_MANY", -1)
    first, second, _ = _graphs(), _graphs(), _graphs()
    assert [r() for r in (*first, *second)] == [None] * 8


def test_the_collector_is_left_as_it_was() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with gc_paused():
        within = gc.get_threshold()
        with gc_paused():
            assert gc.get_threshold() == within
        assert gc.get_threshold() == within
        assert within[:2] == before[:2] and within[2] > 10**6
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == frozen


def test_threads_that_leave_in_any_order_leave_it_as_it_was() -> None:
    before, first, second = gc.get_threshold(), gc_paused(), gc_paused()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[2] > 10**6
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
