# SPDX-License-Identifier: Apache-2.0
"""Assigns parts of a dialect graph to the engines of a target."""
