# SPDX-License-Identifier: Apache-2.0
"""Support for tests of lowered models."""
