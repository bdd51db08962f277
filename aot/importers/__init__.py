# SPDX-License-Identifier: Apache-2.0
"""Importers into the dialect from other sources than PyTorch."""
