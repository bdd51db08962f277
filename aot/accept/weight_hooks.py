# SPDX-License-Identifier: Apache-2.0
"""Replaces weights that hooks compute before each call: weight_norm, spectral_norm and prune.

For new models torch.nn.utils.parametrizations has these norms, and export knows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.nn.utils.prune import BasePruningMethod
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm


@contextmanager
def hooked_weights_kept(model: torch.nn.Module) -> Iterator[None]:
    """Within the context, replace hooked weights by parameters with the same values, without hooks.

    The model is restored afterwards.
    """
    hooked = [
        (module, key, hook, _weight_of(hook))
        for module in model.modules()
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, (BasePruningMethod, SpectralNorm, WeightNorm))
    ]
    orders = {module: dict(module._forward_pre_hooks) for module, *_ in hooked}
    before = [(module, name, getattr(module, name)) for module, _, _, name in hooked]
    try:
        for module, key, hook, name in hooked:
            with torch.no_grad():
                hook(module, None)
            weight = getattr(module, name).detach().clone()
            delattr(module, name)
            module.register_parameter(name, torch.nn.Parameter(weight))
            del module._forward_pre_hooks[key]
        yield
    finally:
        for module, name, weight in before:
            delattr(module, name)
            setattr(module, name, weight)
        for module, hooks in orders.items():
            module._forward_pre_hooks.clear()
            module._forward_pre_hooks.update(hooks)


def _weight_of(hook: BasePruningMethod | SpectralNorm | WeightNorm) -> str:
    """Return the name, within its module, of the weight that a hook computes."""
    name = hook._tensor_name if isinstance(hook, BasePruningMethod) else hook.name
    return str(name)
