# SPDX-License-Identifier: Apache-2.0
"""Warning about modules of torch whose results differ outside of training.

Example: nn.TransformerEncoder returns 0 at padding there. The exported and lowered model does not.
"""

from __future__ import annotations

from aot.quality.finding import Finding
from aot.quality.sampling import spread
from aot.quality.subject import Subject
from aot.quality.values import RANGED
from aot.quality.warning_kinds.hidden_rows import differ


def find(subject: Subject) -> list[Finding]:
    """Return at most one finding: the first module whose fast path gives other results."""
    float_model = subject.float_model
    path = float_model.path_of_encoder()
    if path is None:
        return []
    for _, inputs in spread(subject.samples, RANGED):
        float_model.reset()
        if any(map(differ, float_model(inputs), float_model.as_users_run_it(inputs))):
            return [
                Finding(
                    "fast_path",
                    "",
                    path,
                    "",
                    f"on {subject.described} nn.TransformerEncoder gives 0 at padding on torch's "
                    "fast path (no gradients); the device and this measurement do not. To compare, "
                    "build it with enable_nested_tensor=False. For zeros on the device, add "
                    "y.masked_fill(mask[..., None], 0.0) after it",
                )
            ]
    return []
