# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for what only NXP has."""
