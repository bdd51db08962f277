# SPDX-License-Identifier: Apache-2.0
"""Quality of a lowered model: the effect of int8 on outputs and on every value."""
