# SPDX-License-Identifier: Apache-2.0
"""Lowers networks with the emitters' forms only, and with equal forms, and prints both figures of
their cycles before and after, payload and SRAM.

    bazel run //measure/ethos_u:forms -- --networks=u-net,tcn
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

with imports_that_stay():
    from absl import app, flags

    from aot.backends.ethos_u.backend import ethos_u_target
    from aot.backends.ethos_u.choose import MOST_TRIES
    from aot.backends.npus import CUT, NPUS, OFF
    from aot.dialect.delegate import delegate_of
    from aot.lower import lower
    from measure.ethos_u.cases import NpuCase
    from measure.ethos_u.networks import NETWORKS
    from npu.ethos_u.npu_model import EthosUModel
    from tools.text.table import table

_NETWORKS = flags.DEFINE_list("networks", list(NETWORKS), "Which networks.")
_CONFIGURATIONS = flags.DEFINE_list(
    "configurations", ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"], "Which NPUs."
)
_TRIES = flags.DEFINE_integer("tries", MOST_TRIES, "Programs for each region.", lower_bound=1)
_VERIFY = flags.DEFINE_bool("verify", True, "Execute each payload.")
_HEADER = ("network", "configuration", "Vela", "", "", "model", "", "", "payload", "", "SRAM", "")
_FORMS = "forms"


@dataclass(frozen=True)
class _Figures:
    vela: int
    model: int
    payload: int
    sram: int
    forms: tuple[str, ...]


def _lowered(case: NpuCase, configuration: str, tries: int, verification: str) -> _Figures:
    samples = case.samples()
    target = ethos_u_target(configuration, verification, tries=tries)
    lowered = lower(case.module(), samples[0], target=target, calibration=samples)
    delegates: Sequence[Any] = lowered.report["delegates"]
    graph = lowered.module.graph
    found = [d for node in graph.nodes if (d := delegate_of(lowered.module, node)) is not None]
    model = 0
    if not NPUS[configuration].is_u85:  # the model estimates none
        for delegate in found:
            summary = EthosUModel(configuration).inspect(delegate.payload.data)
            model += summary.counts.cycles
    return _Figures(
        sum(layer["cycles"] for d in delegates for layer in d["report"]["layers"]),
        model,
        sum(d["payload_bytes"] for d in delegates),
        max((d["scratch_bytes"] for d in delegates), default=0),
        tuple(form for d in delegates for form in d["report"]["forms"].values()),
    )


def _pair(before: int, after: int) -> tuple[str, ...]:
    return f"{before:,}", f"{after:,}", f"{after / before:.2f}" if before else ""


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    for flag, known in ((_NETWORKS, NETWORKS), (_CONFIGURATIONS, NPUS)):
        if unknown := set(flag.value) - set(known):
            raise app.UsageError(f"--{flag.name}: there is no {min(unknown)!r}")
    rows: list[tuple[object, ...]] = [(*_HEADER, _FORMS)]
    for name in _NETWORKS.value:
        for configuration in _CONFIGURATIONS.value:
            case = NETWORKS[name]
            before = _lowered(case, configuration, 1, OFF)
            after = _lowered(case, configuration, _TRIES.value, CUT if _VERIFY.value else OFF)
            counts = Counter(after.forms)
            row = (
                *(name, configuration),
                *_pair(before.vela, after.vela),
                *_pair(before.model, after.model),
                *_pair(before.payload, after.payload)[:2],
                *_pair(before.sram, after.sram)[:2],
                ", ".join(f"{n} {form}" for form, n in sorted(counts.items())),
            )
            print(" | ".join(map(str, row)), flush=True)
            rows.append(row)
    print(table(rows, "ll" + "r" * 10 + "l"))


if __name__ == "__main__":
    run_main(main)
