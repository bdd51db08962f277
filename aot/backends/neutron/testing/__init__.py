# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for parts available from NXP only."""
