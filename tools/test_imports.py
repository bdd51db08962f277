# SPDX-License-Identifier: Apache-2.0
"""Imports without looks for garbage."""

from tools.imports import imports_that_stay

import gc

import pytest


@pytest.mark.parametrize("enabled", [True, False])
def test_looks_for_garbage_again_but_not_among_what_was_made(enabled: bool) -> None:
    gc.disable()
    if enabled:
        gc.enable()
    try:
        with imports_that_stay():
            assert not gc.isenabled()
            made = [object]
        assert gc.isenabled() == enabled
        assert all(one is not made for one in gc.get_objects())
    finally:
        gc.enable()


def test_looks_again_after_an_import_that_fails() -> None:
    with pytest.raises(ImportError), imports_that_stay():
        raise ImportError
    assert gc.isenabled()


def test_a_program_that_is_stopped_while_it_imports_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped, imports_that_stay():
        raise KeyboardInterrupt
    assert stopped.value.code == 130
    assert capsys.readouterr() == ("", "stopped\n")
