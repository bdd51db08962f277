# SPDX-License-Identifier: Apache-2.0
"""Regions to prove emitters with."""
