# SPDX-License-Identifier: Apache-2.0
"""Random models come out right, and those of the table of layouts: a bounded number, the same ones
every time. Ten thousand others, and all of the table: `tools/bazel run //tests/random`.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from aot.lower import Lowered, lower
from aot.options import Measure
from aot.pte.conventions import FORMAT_VERSION, PteError
from tests.random import layouts, properties
from tests.random.graphs import Graph, graphs
from tests.random.on_host import Host
from tests.random.properties import OPTIONS, Bundle, Options
from tests.released.released import Release, releases

_MODELS = 12
_OF_A_RANK = 12
_REFUSED_AT_MOST = 0.2


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"), sanitized=False)


@settings(
    max_examples=3,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],  # halving finds the failure
    suppress_health_check=list(HealthCheck),
)
@given(
    models=st.lists(graphs(), min_size=_MODELS, max_size=_MODELS), options=st.sampled_from(OPTIONS)
)
def test_random_models(host: Host, models: list[Graph], options: Options) -> None:
    refused: Counter[str] = Counter()
    found = properties.failures(models, options, host, refused)
    assert not found, "\n".join(found)
    assert refused.total() <= _REFUSED_AT_MOST * _MODELS, refused


@pytest.mark.parametrize("rank", layouts.RANKS)
def test_layouts(host: Host, rank: int) -> None:
    models = [*layouts.models(rank)]
    some = models[rank :: len(models) // _OF_A_RANK]
    found = properties.failures(some, OPTIONS[rank % len(OPTIONS)], host, Counter())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
def test_pte_of_a_release_gives_the_same_bits(host: Host, release: Release) -> None:
    """A .pte of another format is refused with both versions named."""
    data = (release.folder / "net.pte").read_bytes()
    with np.load(release.folder / "net.npz") as arrays:
        vectors = dict(arrays)
    if release.pte_format == FORMAT_VERSION:
        host.check_pte(data, vectors)
        return
    message = rf"format version \[{release.pte_format}\], .* reads {FORMAT_VERSION}"
    with pytest.raises(PteError, match=message):
        host.check_pte(data, vectors)


# Functions of [2, 3, 4] with a result of 0, or nearly, in calibration.
ZEROS = (
    "torch.log_softmax(x0, 1).logsumexp(1)",
    "x0 * 2.0 - (x0 + x0)",
    "(x0 - x0).cumsum(1)",
    "x0[:, :1].repeat(1, 4, 1).var(1)",
    "x0[:, :1].repeat(1, 4, 1).std(1)",
    "(x0.relu() * (-x0).relu()).norm(dim=1)",
    "F.avg_pool1d(x0 - x0.mean(2, keepdim=True), 4).mean(2)",
    "F.layer_norm(x0[:, :, :1].repeat(1, 1, 4), (4,))",
)


def test_results_that_are_always_0(host: Host) -> None:
    models = [Graph(((2, 3, 4),), (False,), (), (f"v0 = {zero}",), "v0") for zero in ZEROS]
    bundle = Bundle(models)
    samples = bundle.samples()
    lowered = lower(
        bundle,
        samples[0],
        calibration=samples,
        measure=Measure(min_sqnr=-math.inf, min_agreement=0.0),
    )
    host.check(lowered, samples)


def test_a_model_without_a_step(host: Host) -> None:
    """The model returns its input, in the fastest plan and in the smallest."""
    model = Graph(((7,), (1, 6, 7)), (False,) * 2, (), ("v0 = x1.roll(0, -1)",), "v0")
    found = properties.failures([model], OPTIONS[0], host, Counter())
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def sound() -> tuple[Bundle, Lowered]:
    lines = ("v0 = self.a0(x0)", "v1 = torch.tanh(v0).permute(0, 2, 1)")
    bundle = Bundle([Graph(((1, 3, 4),), (False,), ("nn.Linear(4, 5)",), lines, "v1")])
    samples = bundle.samples()
    return bundle, lower(bundle, samples[0], calibration=samples)


def _with_another_table(lowered: Lowered, name: str) -> Lowered:
    graph = copy.deepcopy(getattr(lowered, name))
    (table,) = (x for x in graph.buffers() if x.numel() == 256)
    table.copy_(table.flip(0))
    return replace(lowered, **{name: graph})


def _with_another_program(lowered: Lowered, _: str) -> Lowered:
    other = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Sigmoid()).eval()
    samples = [(torch.randn(1, 3, 4),)] * 2
    return replace(lowered, pte=lower(other, samples[0], calibration=samples).pte)


# the fault: the check for it, its kind, its place
_WRONG: dict[str, tuple[str, Callable[[Lowered, str], Lowered], str]] = {
    "an op": ("check_every_op", _with_another_table, "folded"),
    "the layout passes": ("check_layout", _with_another_table, "module"),
    "the result": ("check_float", _with_another_table, "module"),
    "the artefact": ("check_pte", _with_another_program, "pte"),
}


@pytest.mark.parametrize("wrong", _WRONG)
def test_what_is_wrong_is_found(sound: tuple[Bundle, Lowered], wrong: str) -> None:
    bundle, lowered = sound
    check, spoil, where = _WRONG[wrong]
    getattr(properties, check)(bundle, lowered)
    with pytest.raises(AssertionError):
        getattr(properties, check)(bundle, spoil(lowered, where))


def test_what_is_wrong_on_the_host_is_found(host: Host, sound: tuple[Bundle, Lowered]) -> None:
    bundle, lowered = sound
    host.check(lowered, bundle.samples())
    with pytest.raises(AssertionError, match="PL:FAIL"):
        host.check(_with_another_table(lowered, "module"), bundle.samples())
