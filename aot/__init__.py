# SPDX-License-Identifier: Apache-2.0
"""Ahead-of-time lowering of PyTorch modules."""
