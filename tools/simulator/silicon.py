# SPDX-License-Identifier: Apache-2.0
"""Measured chips: factors from modelled cycles to published ones, with errors, times and energy.

    bazel run //tools/simulator:silicon      factors of all chips, and the error of each row

A factor is the geometric mean of measured over modelled cycles. The error of a row is that of its
estimate by the other rows of its chip.
"""

from tools.text.signal_handling import run_main

import functools
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from tools.simulator.blocks import CyclesError
from tools.simulator.timing import BESIDE_LLVM, FLASH, TABLES, Table, cycles_of_work
from tools.text.table import table

_DATA = Path(__file__).parent / "silicon.json"


@dataclass(frozen=True)
class MeasuredChip:
    """A chip with measurements.

    Attributes:
        clock_hz: clock of the measurements, or the highest.
        flash_cycles: cycles that a read of flash adds.
        picojoules: least and most energy of a cycle, None if unknown.
    """

    name: str
    core: str
    clock_hz: int
    flash_cycles: float = 0
    picojoules: tuple[float, float] | None = None

    @property
    def table(self) -> Table:
        """Return the table of the core, or that beside LLVM's model, with the chip's flash."""
        of_core = TABLES.get(self.core) or BESIDE_LLVM.get(self.core, {})
        return {**of_core, FLASH: self.flash_cycles}


@dataclass(frozen=True)
class Row:
    """A measurement of a network or layer: its cycles, and those of the model."""

    chip: str
    name: str
    source: str
    measured: float
    modelled: float


@dataclass(frozen=True)
class Estimate:
    """Cycles of an inference on a chip as time and energy; errors are fractions.

    Attributes:
        microjoules: None if the chip's energy is unknown.
    """

    milliseconds: float
    error: float
    microjoules: float | None
    energy_error: float


@dataclass(frozen=True)
class Calibration:
    """Correction of a core's model.

    Attributes:
        chip: None if no chip of the core was measured.
        error: largest relative error of the core's rows, or of its chips if the chip has no rows;
            None without a chip.
        rows: number of measurements that the factor is from.
        table: events of the core and the chip.
    """

    chip: MeasuredChip | None
    factor: float
    error: float | None
    rows: int
    table: Table

    def own_chip(self, name: str, core: str, clock_hz: int) -> MeasuredChip:
        """Return a chip of the same core, with the flash of this one."""
        return MeasuredChip(name, core, clock_hz, self.table.get(FLASH, 0))

    def of(self, cycles: float) -> Estimate | None:
        """Return time and energy of estimated cycles; None without a chip."""
        if self.chip is None or self.error is None:
            return None
        energy, error = None, self.error
        if self.chip.picojoules is not None:
            least, most = self.chip.picojoules
            energy = cycles * (least + most) / 2 / 1e6
            error += (most - least) / (most + least)
        return Estimate(cycles / self.chip.clock_hz * 1e3, self.error, energy, error)


@functools.cache
def chips() -> dict[str, MeasuredChip]:
    """Return all chips by name; the first of a core is its default."""
    found = {}
    for fields in _read()["chips"]:
        energy = fields.get("picojoules")
        found[fields["name"]] = MeasuredChip(
            fields["name"],
            fields["core"],
            fields["clock_hz"],
            fields.get("flash_cycles", 0),
            None if energy is None else (energy[0], energy[1]),
        )
    return found


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return all measurements."""
    return tuple(
        Row(
            row["chip"],
            row["name"],
            row["source"],
            row["cycles"] if "cycles" in row else row["milliseconds"] / 1e3 * row["clock_hz"],
            cycles_of_work(row["work"], chips()[row["chip"]].table),
        )
        for row in _read()["rows"]
    )


def calibration(core: str, chip: str = "") -> Calibration:
    """Return the correction of a core's model for a chip, or for the core's first.

    Raises:
        CyclesError: the chip is unknown, or has another core.
    """
    known = {name: one for name, one in chips().items() if one.core == core}
    if chip and chip not in known:
        listed = ", ".join(known) or "none"
        raise CyclesError(f"no measured chip with a {core} is called {chip}; known: {listed}")
    if not known:
        return Calibration(None, 1.0, None, 0, TABLES.get(core, {}))
    found = known[chip] if chip else next(iter(known.values()))
    own = [row for row in rows() if row.chip == found.name]
    if own:
        error = max(abs(error) for row in rows() if row.chip in known for error in [error_of(row)])
        return Calibration(found, _factor(own), error, len(own), found.table)
    measured = {name: [row for row in rows() if row.chip == name] for name in known}
    factors = {name: _factor(of_chip) for name, of_chip in measured.items() if of_chip}
    others = {
        name: geometric_mean(factors[one] for one in factors if one != name) for name in factors
    }
    error = max(
        abs(_error(row, others[name])) for name, factor in factors.items() for row in measured[name]
    )
    return Calibration(found, geometric_mean(factors.values()), error, 0, found.table)


def error_of(row: Row) -> float:
    """Return the relative error of a row's estimate by the other rows of its chip."""
    others = [one for one in rows() if one.chip == row.chip and one is not row]
    return _error(row, _factor(others))


def report() -> str:
    """Return factors of chips and errors of rows as text."""
    factors = [["chip", "core", "rows", "factor", "error"]]
    for chip in chips().values():
        found = calibration(chip.core, chip.name)
        error = "" if found.error is None else percent(found.error)
        factors.append([chip.name, chip.core, str(found.rows), f"{found.factor:.3f}", error])
    lines = [["chip", "measured", "M cycles", "modelled", "error by the other rows", "source"]]
    for row in rows():
        cycles = [f"{row.measured / 1e6:.3f}", f"{row.modelled / 1e6:.3f}"]
        lines.append([row.chip, row.name, *cycles, f"{error_of(row):+.1%}", row.source])
    return f"{table(factors, 'llrrr')}\n\n{table(lines, 'llrrrl')}"


def percent(error: float) -> str:
    """Return an error as text, rounded up."""
    return f"± {math.ceil(error * 100)} %"


def _read() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_DATA.read_text())
    return data


def _factor(some: Iterable[Row]) -> float:
    return geometric_mean(row.measured / row.modelled for row in some)


def _error(row: Row, factor: float) -> float:
    return row.modelled * factor / row.measured - 1


def main(argv: list[str]) -> None:
    del argv
    print(report())


if __name__ == "__main__":
    run_main(main)
