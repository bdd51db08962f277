# SPDX-License-Identifier: Apache-2.0
"""Time of lowering."""
