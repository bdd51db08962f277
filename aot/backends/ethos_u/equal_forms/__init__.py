# SPDX-License-Identifier: Apache-2.0
"""The table of equal forms: other conversions of an op. Vela may compile them into fewer cycles.

Each file has one or more rows. They are tried in the order of the table.
"""

from __future__ import annotations

from aot.backends.ethos_u.equal_forms import (
    bilinear,
    dense,
    dilated_line,
    folded_width,
    four_dimensions,
    means_by_windows,
    pools_by_parts,
    prelu_by_depthwise,
    transpose_by_convolution,
    transpose_conv_by_parity,
    upsampling,
)
from aot.backends.ethos_u.equal_forms.row import EqualForm

FORMS: dict[str, EqualForm] = {
    form.name: form
    for form in (
        transpose_conv_by_parity.FORM,
        *upsampling.FORMS,
        *bilinear.FORMS,
        *four_dimensions.FORMS,
        folded_width.FORM,
        prelu_by_depthwise.FORM,
        *pools_by_parts.FORMS,
        *transpose_by_convolution.FORMS,
        *means_by_windows.FORMS,
        *dilated_line.FORMS,
        *dense.FORMS,
    )
}
