# SPDX-License-Identifier: Apache-2.0
"""The names are those that torchao gives."""

import torch

from aot.quantizer.names import names_counted, prepare


def _names(prefixes: list[str]) -> list[str]:
    module = torch.nn.Module()
    setattr(module, "x_1", 0)  # noqa: B010 (mypy knows of no numbers there)
    found = []
    for prefix in prefixes:
        name = prepare.get_new_attr_name_with_prefix(prefix)(module)
        setattr(module, name, 0)
        found.append(name)
    return found


def test_names_are_torchaos() -> None:
    prefixes = ["x_", "y.z_", "x_", "x_", "y.z_"]
    theirs = _names(prefixes)
    with names_counted():
        assert _names(prefixes) == theirs == ["x_0", "y_z_0", "x_2", "x_3", "y_z_1"]
    assert _names(prefixes) == theirs
