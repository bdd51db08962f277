# SPDX-License-Identifier: Apache-2.0
"""Arm Ethos-U: regions of the dialect become TOSA. Vela compiles them for ExecuTorch's own Ethos-U
backend. Each payload is executed before it is used.
"""
