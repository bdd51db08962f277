# SPDX-License-Identifier: Apache-2.0
"""Cortex-M: dialect ops as kernel calls."""
