# SPDX-License-Identifier: Apache-2.0
"""Quality of a lowered model: the measured effect of int8 on its outputs and on every value."""
