# SPDX-License-Identifier: Apache-2.0
"""The models of the table of layouts, and many random ones: `tools/bazel run //tests/random --
--count=10000 --seed=1`.

Prints the source of every model that violates a property, and the refusals with their counts.
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import itertools
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

with imports_that_stay():
    from absl import app, flags, logging
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    from tests.random.graphs import Graph, graphs
    from tests.random.layouts import RANKS, models
    from tests.random.on_host import Host
    from tests.random.properties import OPTIONS, Options, failures

_COUNT = flags.DEFINE_integer("count", 10000, "how many models", lower_bound=1)
_LAYOUTS = flags.DEFINE_bool("layouts", True, "the table of layouts, too")
_SEED = flags.DEFINE_integer("seed", 0, "another seed, other models")

_TOGETHER = 20


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]!r}")
    refused: Counter[str] = Counter()
    found: list[str] = []
    count = 0

    with tempfile.TemporaryDirectory() as folder:
        host = Host(Path(folder), sanitized=True)

        def try_together(together: list[Graph], options: Options) -> None:
            nonlocal count
            new = failures(together, options, host, refused)
            print(*new, sep="\n", end="", flush=True)
            found.extend(new)
            count += len(together)
            logging.info("%d models, %d wrong, %d refused", count, len(found), refused.total())

        for rank in RANKS if _LAYOUTS.value else ():
            table = [*models(rank)]
            for start, options in zip(range(0, len(table), _TOGETHER), itertools.cycle(OPTIONS)):
                try_together(table[start : start + _TOGETHER], options)

        @seed(_SEED.value)
        @settings(
            max_examples=-(-_COUNT.value // _TOGETHER),
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(graphs(), min_size=_TOGETHER, max_size=_TOGETHER), st.sampled_from(OPTIONS))
        def try_random(together: list[Graph], options: Options) -> None:
            try_together(together, options)

        try_random()
    for text, times in refused.most_common():
        print(f"{times} refused: {text}")
    print(f"{count} models, {len(found)} wrong, {refused.total()} refused")
    return 1 if found else 0


if __name__ == "__main__":
    run_main(main)
