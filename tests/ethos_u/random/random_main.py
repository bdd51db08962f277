# SPDX-License-Identifier: Apache-2.0
"""Thousands of random TOSA graphs, for the nightly run: prints the number of exact ones, by
configuration.

Some forms are known to be miscompiled by Vela. Their graphs are executed, too: the number of wrong
ones shows the value of the forms. The run fails if a graph without such a form is wrong.

    bazel run //tests/ethos_u/random:nightly -- --count=1000 --seed=7
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

with imports_that_stay():
    from absl import app, flags

    from aot.backends.npus import NPUS
    from tests.ethos_u.random.trial import trial
    from tools.text.table import table

_COUNT = flags.DEFINE_integer("count", 300, "Graphs.", lower_bound=1)
_SEED = flags.DEFINE_integer("seed", 0, "Of the first.", lower_bound=0)
_CONFIGURATIONS = flags.DEFINE_list("configurations", list(NPUS), "Which NPUs.")


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    rows: list[tuple[object, ...]] = [
        ("configuration", "exact", "not compiled", "avoided, exact", "avoided, wrong", "wrong")
    ]
    failures = []
    for configuration in _CONFIGURATIONS.value:
        exact = left = avoided = avoided_wrong = wrong = 0
        for seed in range(_SEED.value, _SEED.value + _COUNT.value):
            found = trial(seed, configuration)
            if found.form:
                avoided += not found.wrong
                avoided_wrong += bool(found.wrong)
            elif found.refused:
                left += 1
            elif found.wrong:
                wrong += 1
                failures.append(f"seed {seed}, {configuration}: {found.wrong}: {found.steps}")
            else:
                exact += 1
        rows.append((configuration, exact, left, avoided, avoided_wrong, wrong))
    print(table(rows, "lrrrrr"))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    run_main(main)
