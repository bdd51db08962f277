# SPDX-License-Identifier: Apache-2.0
"""Engines that run ops of the dialect, one a folder; `backend.py` says what one is."""
