# SPDX-License-Identifier: Apache-2.0
"""What the rig's models are lowered for: its CPU; the backends of further engines go before it."""

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target

RIG = Target("rig", (CORTEX_M,))
