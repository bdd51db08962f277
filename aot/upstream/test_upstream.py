# SPDX-License-Identifier: Apache-2.0
"""A library's new version: one test for each private name and each replaced function."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from packaging.specifiers import SpecifierSet

import aot.upstream.executorch
import aot.upstream.executorch_runtime
import aot.upstream.torch
import aot.upstream.torch_export
import aot.upstream.torchao
from aot.upstream import VERSIONS
from aot.upstream.quiet import notices_hidden

_MODULES = (
    aot.upstream.executorch,
    aot.upstream.executorch_runtime,
    aot.upstream.torch,
    aot.upstream.torch_export,
    aot.upstream.torchao,
)


def _imported(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the names that a module imports from the libraries, with the module of each."""
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in VERSIONS:
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize("module, name", [pair for m in _MODULES for pair in _imported(m)])
def test_name_exists(module: str, name: str) -> None:
    library = module.split(".")[0]
    there = hasattr(import_module(module), name) or find_spec(f"{module}.{name}")
    assert there, f"{library} {version(library)} has no {module}.{name}; aot/upstream uses it"


@pytest.mark.parametrize("library", VERSIONS)
def test_installed_version_is_in_range(library: str) -> None:
    assert SpecifierSet(VERSIONS[library]).contains(version(library).split("+")[0])


@pytest.mark.parametrize(
    "module, name",
    [
        ("executorch.exir._serialize._program", "copy"),
        ("torch._decomp.decompositions", "mkldnn_one_layer_lstm"),
        ("torch._decomp.decompositions", "one_layer_lstm"),
        ("torch._decomp.decompositions", "one_layer_rnn"),
        ("torch._subclasses.fake_tensor", "log"),
        ("torch.ao.quantization.fx.prepare", "get_new_attr_name_with_prefix"),
        ("torch.export._trace", "print"),
        ("torch.export.unflatten", "_is_call_name"),
        ("torch.fx.experimental.symbolic_shapes", "log"),
        ("torch.fx.graph_module", "recompile"),
        ("torch.nn.modules.transformer", "_detect_is_causal_mask"),
        ("torchao.quantization.pt2e.utils", "get_new_attr_name_with_prefix"),
    ],
)
def test_replaced_name_is_used(module: str, name: str) -> None:
    """If its library no longer calls a function, a replacement has no effect."""
    text = Path(str(import_module(module).__file__)).read_text()
    read = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    library = module.split(".")[0]
    assert name in read, f"{library} {version(library)}: {module} does not use {name}"


_IMPORT = """
import logging, warnings
import executorch.exir.schema, torch.export._trace, torchao.quantization.pt2e.quantize_pt2e

def state():
    loggers = logging.root.manager.loggerDict.items()
    levels = {n: (o.level, o.disabled) for n, o in loggers if isinstance(o, logging.Logger)}
    return list(warnings.filters), levels, logging.root.level, list(logging.root.handlers)

before = state()
import aot.lower
after = state()
assert after[0] == before[0], after[0]
assert after[1].items() >= before[1].items(), after[1]
assert after[2:] == before[2:], after[2:]
"""


@pytest.mark.parametrize("program", [_IMPORT, "import aot.lower"])
def test_import_changes_and_prints_nothing(program: str) -> None:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if program != _IMPORT:  # it imports torchao itself
        assert done.stderr == done.stdout == ""


def test_filters_and_levels_are_as_before() -> None:
    logger = logging.getLogger("torchao")
    before = list(warnings.filters), logger.level
    with pytest.raises(ZeroDivisionError), notices_hidden():
        assert list(warnings.filters) != before[0]
        assert logger.getEffectiveLevel() == logging.ERROR
        raise ZeroDivisionError
    assert (list(warnings.filters), logger.level) == before
