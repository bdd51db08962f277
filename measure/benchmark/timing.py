# SPDX-License-Identifier: Apache-2.0
"""Seconds of phases, and how they grow."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch

from tools.text.table import table

Seconds = dict[str, float]
"""CPU seconds by phase; "total" is all, including time outside of any phase."""

TOTAL = "total"


class Phases:
    """Measures the CPU time of phases. If one calls another, the outer one counts."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self.seconds: Seconds = {}
        self._clock = clock
        self._running = ""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        if self._running and self._running != TOTAL:
            yield
            return
        outer, self._running = self._running, name
        start = self._clock()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self._clock() - start
            self._running = outer

    @contextmanager
    def of_functions(
        self, module: ModuleType, phases: Mapping[str, Sequence[str]]
    ) -> Iterator[None]:
        """Measure functions by their names in a module.

        Args:
          module: with these names as globals.
          phases: those names, by phase.
        """
        with ExitStack() as patches:
            for phase, functions in phases.items():
                for function in functions:
                    timed = self._timed(phase, getattr(module, function))
                    patches.enter_context(patch.object(module, function, timed))
            with self.phase(TOTAL):
                yield

    def _timed(self, phase: str, function: Callable[..., object]) -> Callable[..., object]:
        def timed(*args: object, **kwargs: object) -> object:
            with self.phase(phase):
                return function(*args, **kwargs)

        return timed


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the exponent e of the best fit seconds = c * size^e, by least squares of the
    logarithms.
    """
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread


def phases_table(measured: Mapping[str, Seconds], peer: Mapping[str, float]) -> str:
    """Return a row a model: seconds by phase, all, and the peer's."""
    phases = list(dict.fromkeys(p for seconds in measured.values() for p in seconds if p != TOTAL))
    rows = [["CPU seconds", *phases, "all", "ExecuTorch"]]
    for model, seconds in measured.items():
        values = [seconds.get(phase, 0.0) for phase in phases]
        rows.append([model, *(f"{v:.2f}" for v in (*values, seconds[TOTAL], peer[model]))])
    return table(rows, "l" + "r" * (len(phases) + 2))
