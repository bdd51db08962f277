# SPDX-License-Identifier: Apache-2.0
"""Arm Ethos-U: regions of the dialect become TOSA, which Vela compiles into what ExecuTorch's own
Ethos-U backend takes; each payload is executed before it is used.
"""
