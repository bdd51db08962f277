# SPDX-License-Identifier: Apache-2.0
"""Target of the rig's models: its CPU. Put the backends of further engines before it."""

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target

RIG = Target("rig", (CORTEX_M,))
