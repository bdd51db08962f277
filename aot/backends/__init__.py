# SPDX-License-Identifier: Apache-2.0
"""Emitters: from the dialect to what a processor runs."""
