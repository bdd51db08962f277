# SPDX-License-Identifier: Apache-2.0
"""Choice of a region's forms by the cycles of its candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.fx import GraphModule

from aot.backends.ethos_u import choose
from aot.backends.ethos_u.choose import Candidate, compiled
from aot.backends.ethos_u.emit import PLAIN, Choice, adopt, matching
from aot.backends.ethos_u.forms import FormError
from aot.backends.ethos_u.testing.draw import Draw
from aot.backends.ethos_u.verify import verify
from aot.backends.npus import NPUS
from aot.dialect.graph import NHWC

U55 = NPUS["ethos-u55-128"]
FORM = "transpose_conv_by_parity"


def _upsampling(channels: int = 8) -> GraphModule:
    draw = Draw("upsampling", 0)
    weight = draw.weights((4, 4, 4, channels))
    x = draw.input((1, 8, 8, channels), 3, NHWC)
    window = [2, 2], [1, 1], [1, 1], [16, 16], 1
    args = (weight, *draw.scales(weight), *window, 3, 5, -128, 127)
    region = draw.region("transpose_conv2d", x, *args, zero_point=5, layout=NHWC)
    adopt(region)
    return region


def test_the_cheapest_form_is_chosen_and_exact() -> None:
    region = _upsampling()
    plain = compiled(region, U55, PLAIN, check=True)
    best = choose.choose(region, U55, plain)
    assert list(best.choice.forms.values()) == [FORM]
    assert best.cycles < 0.6 * plain.cycles
    assert best.program.cycles < 0.6 * plain.program.cycles
    verify(region, best.graph.tosa, best.program.payload, U55)


def test_the_choice_is_the_same_twice_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    region = _upsampling()
    plain = compiled(region, U55, PLAIN, check=True)
    found = []
    for _ in range(2):
        monkeypatch.setattr(choose, "_CHOICES", {})
        found.append(choose.choose(region, U55, plain))
    monkeypatch.setattr(choose, "_best", None)  # nobody searches again
    found.append(choose.choose(region, U55, plain))
    assert len({c.choice.key for c in found}) == len({c.program.payload for c in found}) == 1


def test_one_try_is_the_plain_form() -> None:
    region = _upsampling()
    plain = compiled(region, U55, PLAIN, check=True)
    assert choose.choose(region, U55, plain, tries=1) is plain


def _search(monkeypatch: pytest.MonkeyPatch, costs: dict[bool, Candidate | Exception]) -> Candidate:
    """Return the choice between plain forms and the form, of given costs."""

    def given(region: GraphModule, npu: object, choice: Choice, check: bool) -> Candidate:
        found = costs[bool(choice.forms)]
        if isinstance(found, Exception):
            raise found
        return replace(found, choice=choice)

    monkeypatch.setattr(choose, "compiled", given)
    plain = costs[False]
    assert isinstance(plain, Candidate)
    region = _upsampling()
    return choose._best(region, U55, plain, choose.MOST_TRIES, matching(region, U55))


@pytest.mark.parametrize(
    ("figures", "is_taken"),
    [
        ((90, 100, 100), True),
        ((100, 90, 100), True),
        ((100, 100, 100), False),
        ((90, 101, 100), False),
        ((90, 90, 101), False),
        ((101, 10, 10), False),
    ],
)
def test_a_form_wins_by_one_figure_and_loses_by_none(
    monkeypatch: pytest.MonkeyPatch, figures: tuple[int, int, int], is_taken: bool
) -> None:
    monkeypatch.setattr(Candidate, "scratch_bytes", property(lambda c: c.graph))
    plain, other = (
        Candidate(PLAIN, scratch, type("P", (), {"cycles": vela})(), cycles)  # type: ignore[arg-type]
        for cycles, vela, scratch in ((100, 100, 100), figures)
    )
    assert bool(_search(monkeypatch, {False: plain, True: other}).choice.forms) == is_taken


def test_a_form_that_vela_compiles_wrongly_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = compiled(_upsampling(), U55, PLAIN, check=True)
    best = _search(monkeypatch, {False: plain, True: FormError("a known bad form")})
    assert not best.choice.forms


def test_forms_hold_for_their_npus() -> None:
    draw = Draw("nearest", 0)
    index = draw.builder.constant("i", torch.arange(4).repeat_interleave(2).to(torch.int32))
    x = draw.input((1, 4, 4, 8), 0, NHWC)
    region = draw.region("gather", x, [index, index], [1, 2], zero_point=0, layout=NHWC)
    assert "nearest_by_resize" in matching(region, NPUS["ethos-u85-256"])
    assert "nearest_by_resize" not in matching(region, U55)
