# SPDX-License-Identifier: Apache-2.0
"""Each equal form of random calls: dialect, TOSA's reference model and functional model agree."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from aot.backends.ethos_u.equal_forms import FORMS
from aot.backends.ethos_u.forms import FormError
from aot.backends.ethos_u.testing.draw import Draw
from aot.backends.ethos_u.testing.equal_forms import FORM_REGIONS
from aot.backends.ethos_u.testing.proof import prove_form
from aot.backends.npus import NPUS

CONFIGURATIONS = ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"]
SEEDS = 2

PLACES = [(f, c) for f in FORMS for c in CONFIGURATIONS if FORMS[f].holds(NPUS[c])]


def test_every_form_is_proved() -> None:
    assert FORM_REGIONS.keys() == FORMS.keys()


@pytest.mark.parametrize("form", FORMS)
def test_forms_were_executed_with_this_vela(form: str) -> None:
    assert version("ethos-u-vela") in FORMS[form].vela


@pytest.mark.parametrize(("form", "configuration"), PLACES)
def test_forms_are_exact(form: str, configuration: str) -> None:
    exact = 0
    for seed in range(SEEDS):
        try:
            prove_form(FORM_REGIONS[form](Draw(form, seed)), form, configuration)
        except FormError:  # such a candidate is dropped
            continue
        exact += 1
    assert exact > 0, "no call has a form that Vela compiles"
