# SPDX-License-Identifier: Apache-2.0
"""Pilotlight's additions to ExecuTorch's .pte format, their reader and their writer."""
