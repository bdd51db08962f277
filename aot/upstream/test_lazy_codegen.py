# SPDX-License-Identifier: Apache-2.0
"""Graphs with late code generation behave like those with immediate generation."""

from __future__ import annotations

import copy
import pickle
from inspect import signature
from threading import Thread

import pytest
import torch
from torch.fx import GraphModule, symbolic_trace

from aot.upstream.lazy_codegen import lazy_codegen

_eager = GraphModule.recompile


def _negated(module: GraphModule) -> GraphModule:
    """The graph, changed in place, gives its negative."""
    output = module.graph.output_node()
    with module.graph.inserting_before(output):
        output.args = (module.graph.call_function(torch.neg, output.args),)
    module.recompile()
    return module


def _double() -> GraphModule:
    return symbolic_trace(lambda x: x + x)


def test_runs_what_it_was_changed_to() -> None:
    before = _double()
    with lazy_codegen():
        late, changed, seen = _double(), _negated(before), _double()
        assert "_code" not in vars(late)
        assert seen(torch.ones(1)) == 2.0
        _negated(seen)
        assert copy.deepcopy(late)(torch.ones(1)) == 2.0
    for module, result in ((late, 2.0), (changed, -2.0), (seen, -2.0)):
        assert module(torch.ones(1)) == module(torch.ones(1)) == result
    assert _negated(late)(torch.ones(1)) == -2.0


@pytest.mark.parametrize("text", [lambda m: m.code, str])
def test_shows_the_code_that_it_has_become(text: object) -> None:
    assert callable(text)
    expected = text(_negated(_double()))
    with lazy_codegen():
        module = _double()
        assert text(module) == text(_double())
        assert text(_negated(module)) == expected


def test_forward_has_the_parameters_of_the_graph() -> None:
    expected = signature(_double().forward)
    with lazy_codegen():
        of_module, of_class = _double(), _double()
        assert signature(of_module.forward) == expected
        assert list(signature(type(of_class).forward).parameters) == ["self", *expected.parameters]
        assert of_class(torch.ones(1)) == 2.0


@pytest.mark.parametrize("is_late", [True, False])
def test_is_pickled_as_it_is(is_late: bool) -> None:
    with lazy_codegen():
        module = _negated(_double())
        if not is_late:
            module(torch.ones(1))
        within = pickle.dumps(module)
        assert _negated(module)(torch.ones(1)) == 2.0
        later = _double()
    for pickled, result in (
        (within, -2.0),
        (pickle.dumps(module), 2.0),
        (pickle.dumps(later), 2.0),
    ):
        assert pickle.loads(pickled)(torch.ones(1)) == result


def test_hooks_run_once() -> None:
    calls = []
    with lazy_codegen():
        module = _double()
        module.register_forward_hook(lambda *_: calls.append(1))
    module(torch.ones(1))
    assert calls == [1]


def test_other_threads_have_torchs() -> None:
    found = []

    def make() -> None:
        found.append(vars(_double()))
        with lazy_codegen(), lazy_codegen():
            pass
        found.append(vars(_double()))

    with lazy_codegen():
        thread = Thread(target=make)
        thread.start()
        thread.join()
        assert "_code" not in vars(_double())
    assert all("_code" in attributes for attributes in found)
    assert GraphModule.recompile is _eager
