# SPDX-License-Identifier: Apache-2.0
"""The names equal torchao's."""

from threading import Barrier, BrokenBarrierError, Thread

import torch

from aot.upstream.names import names_counted, prepare


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


def test_two_threads_leave_torchao_as_it_was() -> None:
    theirs, together = prepare.get_new_attr_name_with_prefix, Barrier(2)
    met = []

    def use() -> None:
        with names_counted():
            try:
                together.wait(timeout=0.2)
                met.append(True)
            except BrokenBarrierError:
                pass

    threads = [Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not met
    assert prepare.get_new_attr_name_with_prefix is theirs
