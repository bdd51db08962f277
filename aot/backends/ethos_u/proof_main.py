# SPDX-License-Identifier: Apache-2.0
"""Thousands of random calls of each op, and of random graphs, through the emitters, for the night:
prints how many are exact, by op and configuration. Where Vela left out a wait, a build cuts the
region and goes on (docs/ethos_u.md): such calls are counted, named, and no failure.

    bazel run //aot/backends/ethos_u:nightly -- --count=1000 --seed=7
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

with imports_that_stay():
    from absl import app, flags
    from torch.fx import GraphModule

    from aot.backends.ethos_u.emitters import EMITTERS
    from aot.backends.ethos_u.forms import FormError
    from aot.backends.ethos_u.testing.graphs import random_graph
    from aot.backends.ethos_u.testing.proof import prove
    from aot.backends.ethos_u.testing.regions import INT16_REGIONS, REGIONS, random_region
    from aot.backends.ethos_u.vela import VelaError
    from aot.backends.ethos_u.verify import EmitterError, MissingWaitError, NpuVerificationError
    from aot.backends.npus import NPUS
    from aot.dialect.quantization import INT8, INT16
    from tools.text.table import table

_COUNT = flags.DEFINE_integer("count", 200, "Calls of each op.", lower_bound=1)
_SEED = flags.DEFINE_integer("seed", 0, "Of the first.", lower_bound=0)
_GRAPHS = "graphs"
_OF = " of "
_WIDE = [f"{op}{_OF}int16" for op in INT16_REGIONS if not EMITTERS[op].not_int16]
_OPS = flags.DEFINE_list("ops", [*REGIONS, *_WIDE, _GRAPHS], "Which ops, or graphs of several.")
_CONFIGURATIONS = flags.DEFINE_list("configurations", list(NPUS), "Which NPUs.")


def _region(name: str, seed: int) -> GraphModule:
    """Return a random region. The name is an op, an op with int16, or graphs."""
    if name == _GRAPHS:
        return random_graph(seed)
    op, _, kind = name.partition(_OF)
    return random_region(op, seed, INT16 if kind else INT8)


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    rows: list[tuple[object, ...]] = [("op", "configuration", "exact", "not taken", "cut", "wrong")]
    cuts: list[str] = []
    failures: list[str] = []
    for op in _OPS.value:
        for configuration in _CONFIGURATIONS.value:
            exact = left = cut = wrong = 0
            for seed in range(_SEED.value, _SEED.value + _COUNT.value):
                call = f"{op}, seed {seed}, {configuration}"
                try:
                    region = _region(op, seed)
                    taken = prove(region, configuration)
                except MissingWaitError as error:
                    cut += 1
                    cuts.append(f"cut: {call}: {error}")
                    continue
                except (EmitterError, FormError, VelaError, NpuVerificationError) as error:
                    wrong += 1
                    failures.append(f"{call}: {error}")
                    continue
                exact += taken
                left += not taken
            rows.append((op, configuration, exact, left, cut, wrong))
    print(table(rows, "llrrrr"))
    print("\n".join(cuts + failures))
    return 1 if failures else 0


if __name__ == "__main__":
    run_main(main)
