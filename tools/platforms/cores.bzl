# SPDX-License-Identifier: Apache-2.0
"""Cortex-M cores: the table used by platforms, toolchains and boards."""

def _core(cpu, isa, float_abi, startup):
    return struct(cpu = cpu, isa = isa, float_abi = float_abi, startup = startup)

# Names are those of -mcpu, including missing features: cortex-m33+nofp. `cpu` is the value of
# @platforms//cpu. `isa` is the class of kernels: "scalar", "thumb1" (Armv6-M and the baseline of
# Armv8-M), "dsp" (Armv7E-M and the DSP extension of Armv8-M) or "mve" (Helium). `startup` is the suffix of boards/common/cpu_*.c.
CORES = {
    "cortex-m0": _core("armv6-m", "thumb1", "soft", "armv6m"),
    "cortex-m0plus": _core("armv6-m", "thumb1", "soft", "armv6m"),
    "cortex-m1": _core("armv6-m", "thumb1", "soft", "armv6m"),
    "cortex-m3": _core("armv7-m", "scalar", "soft", "armv7m"),
    "cortex-m4": _core("armv7e-mf", "dsp", "hard", "armv7m"),
    "cortex-m4+nofp": _core("armv7e-m", "dsp", "soft", "armv7m"),
    "cortex-m7": _core("armv7e-mf", "dsp", "hard", "armv7m"),
    "cortex-m7+nofp.dp": _core("armv7e-mf", "dsp", "hard", "armv7m"),
    "cortex-m23": _core("armv8-m", "thumb1", "soft", "armv6m"),
    "cortex-m33": _core("armv8-m", "dsp", "hard", "cortex_m33"),
    "cortex-m33+nofp": _core("armv8-m", "dsp", "soft", "cortex_m33"),
    "cortex-m33+nofp+nodsp": _core("armv8-m", "scalar", "soft", "cortex_m33"),
    "cortex-m52": _core("armv8-m", "mve", "hard", "cortex_m55"),
    "cortex-m55": _core("armv8-m", "mve", "hard", "cortex_m55"),
    "cortex-m55+nomve.fp": _core("armv8-m", "mve", "hard", "cortex_m55"),
    "cortex-m55+nomve": _core("armv8-m", "dsp", "hard", "cortex_m55"),
    "cortex-m85": _core("armv8-m", "mve", "hard", "cortex_m55"),
}

def core_flags(core):
    """Return GCC's flags for a core.

    Args:
      core: its name.
    """
    return ["-mthumb", "-mcpu=" + core, "-mfloat-abi=" + CORES[core].float_abi]
