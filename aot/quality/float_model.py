# SPDX-License-Identifier: Apache-2.0
"""Runs the user's model in float from its initial state. The model itself is not changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.export import ExportedProgram

from aot.accept.calibration import outside_of_table
from aot.accept.program import arguments_of
from aot.errors import WRITTEN_OUT, LoweringError, raising_line, takes_gradient
from aot.upstream.torch import tree_leaves


class FloatModel:
    """Runner of a model on copies of inputs and buffers, because a model may write to them.

    Args:
      model: the model to lower; its buffers stay as they are.
      computed: flat indices of the results that are outputs (aot/accept/export.py); all
        if None.
    """

    def __init__(
        self, model: torch.nn.Module | ExportedProgram, computed: Sequence[int] | None = None
    ) -> None:
        self._computed = computed
        self._program = model if isinstance(model, ExportedProgram) else None
        self._runnable: torch.nn.Module = (
            model.module(check_guards=False) if isinstance(model, ExportedProgram) else model
        )
        self.reset()

    def reset(self) -> None:
        """Start again from the initial state."""
        self._buffers = {name: x.clone() for name, x in self._runnable.named_buffers()}

    def _arguments(self, tensors: tuple[torch.Tensor, ...]) -> tuple[Any, dict[str, Any]]:
        return (tensors, {}) if self._program is None else arguments_of(self._program, tensors)

    def path_of_encoder(self) -> str | None:
        """Return the path of the first nn.TransformerEncoder; None if there is none."""
        modules = self._runnable.named_modules()
        found = (path for path, part in modules if isinstance(part, torch.nn.TransformerEncoder))
        return next(found, None)

    def as_users_run_it(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return the outputs of a first run in eval mode, with torch's fast paths."""
        buffers = {name: x.clone() for name, x in self._runnable.named_buffers()}
        return self._run(inputs, buffers)

    def __call__(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return the list of outputs. State is carried from call to call."""
        with _as_exported():
            return self._run(inputs, self._buffers)

    def _run(
        self, inputs: Sequence[torch.Tensor], buffers: dict[str, torch.Tensor]
    ) -> list[torch.Tensor]:
        copies = tuple(x.clone() for x in inputs)
        with torch.no_grad():
            try:
                results = torch.func.functional_call(
                    self._runnable, buffers, *self._arguments(copies)
                )
            except IndexError as error:
                raise outside_of_table("a sample", error) from error
            except RuntimeError as error:  # from checks that export skips, such as shared memory
                if "out of bounds" in str(error):
                    raise outside_of_table("a sample", error) from error
                where = raising_line(error)
                at = f"\n    at {where}" if where else ""
                at += f"\n    instead: {WRITTEN_OUT}" if takes_gradient(error) else ""
                raise LoweringError(f"the model fails on a sample: {error}{at}") from error
        leaves = tree_leaves(results)
        computed = range(len(leaves)) if self._computed is None else self._computed
        # An output may be a buffer, and the next run writes into it.
        return [leaves[i].clone() for i in computed]


@contextmanager
def _as_exported() -> Iterator[None]:
    """Within the context, disable the fast paths of nn.TransformerEncoder and similar modules.

    They then compute the same as export sees. Their fast paths return 0 at masked padding.
    """
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
