# SPDX-License-Identifier: Apache-2.0
"""How good a lowered model is: what int8 does to its outputs and to every value, measured."""
