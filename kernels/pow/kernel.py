# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for aten::pow of float32 and a number, declared in kernels/pow/pow.h."""

import numpy as np

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel

_LARGEST = 16.0
_LARGEST_SHIFT = 62

# Faster than by logarithms.
_FUNCTIONS = {
    **dict.fromkeys((-3.0, -2.0, -1.0, 1.0, 2.0, 3.0), "pl_pow_whole_f32"),
    **dict.fromkeys((-0.5, 0.5), "pl_pow_half_f32"),
}


@kernel("aten::pow.Tensor_Scalar_out")
def pow_(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("self", "float32"), call.output("float32")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    exponent = float(np.float32(call.real("exponent")))
    call.require(
        abs(exponent) <= _LARGEST,
        f"the exponent is {exponent}; the kernel is accurate for exponents up to {_LARGEST}",
    )
    mantissa, shift = _mantissa(exponent)
    return KernelCall(
        function=_FUNCTIONS.get(exponent, "pl_pow_f32"),
        header="kernels/pow/pow.h",
        params={
            "exponent": exponent,
            "mantissa": mantissa,
            "shift": shift,
            "parity": _parity(exponent),
        },
        dims={"size": output.size},
        data={"input": source, "output": output},
        in_place=((source.name, output.name),),
    )


def _mantissa(exponent: float) -> tuple[int, int]:
    """Return the exponent as mantissa / 2^shift; one too small to matter becomes the smallest."""
    fraction, power = np.frexp(np.float32(exponent))
    mantissa, shift = int(fraction * 2**24), 24 - int(power)
    if shift > _LARGEST_SHIFT:
        return int(np.sign(mantissa)), _LARGEST_SHIFT
    return mantissa, shift


def _parity(exponent: float) -> int:
    """Return PL_POW_BROKEN, PL_POW_EVEN or PL_POW_ODD."""
    if not exponent.is_integer():
        return 0
    return 2 if int(exponent) % 2 else 1
