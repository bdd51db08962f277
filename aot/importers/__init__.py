# SPDX-License-Identifier: Apache-2.0
"""Ways into the dialect that do not start with PyTorch."""
