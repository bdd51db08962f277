# SPDX-License-Identifier: Apache-2.0
"""Engines running ops of the dialect, one per folder. `backend.py` defines an engine."""
