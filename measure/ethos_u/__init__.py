# SPDX-License-Identifier: Apache-2.0
"""Compares this lowering for an Ethos-U with that of ExecuTorch's Arm backend."""
