# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 convolutions: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import sizes

ACCESS: dict[str, Access] = {
    "pl_convolution_f32": Access(
        "kernels/convolution_f32/convolution_f32.h",
        {
            **sizes("batches groups inputs outputs"),
            **dict.fromkeys(("input", "kernel", "output"), (1, LONG)),
        },
        {
            "input": Extent("batches * groups * inputs * product(input)", 4),
            "weight": Extent("groups * outputs * inputs * product(kernel)", 4),
            "bias": Extent("groups * outputs", 4, optional=True),
        },
        {"output": Extent("batches * groups * outputs * product(output)", 4)},
        {"stride": (1, 255), "padding": (0, 255), "dilation": (1, 255)},
    )
}
