# SPDX-License-Identifier: Apache-2.0
"""Modules that torch computes otherwise outside of training: nn.TransformerEncoder gives 0 at
padding there, what is exported and lowered does not.
"""

from __future__ import annotations

from aot.quality.doubts.hidden_rows import differ
from aot.quality.finding import Finding
from aot.quality.subject import Subject
from aot.quality.values import RANGED, spread


def doubt(subject: Subject) -> list[Finding]:
    """The first module with such a path, where it gives other results."""
    float_model = subject.float_model
    path = float_model.path_of_encoder()
    if path is None:
        return []
    for _, inputs in spread(subject.samples, RANGED, False):
        float_model.reset()
        if any(map(differ, float_model(inputs), float_model.as_users_run_it(inputs))):
            return [
                Finding(
                    "fast_path",
                    "",
                    path,
                    "",
                    f"on {subject.described} nn.TransformerEncoder gives 0 at padding where no "
                    "gradient is taken, on torch's fast path; the device, and what is measured "
                    "here, does not: build it with enable_nested_tensor=False to compare, or put "
                    "y.masked_fill(mask[..., None], 0.0) behind it to have zeros on the device",
                )
            ]
    return []
