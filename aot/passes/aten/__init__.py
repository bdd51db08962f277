# SPDX-License-Identifier: Apache-2.0
"""The first phase: rewrites of an ATen graph, before and after it is quantized."""
