# SPDX-License-Identifier: Apache-2.0
"""Outcomes of programs as people write them: int8, partly float, float, refused or wrong."""
