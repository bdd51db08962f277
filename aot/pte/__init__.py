# SPDX-License-Identifier: Apache-2.0
"""The artefact: Pilotlight's additions to ExecuTorch's .pte format, and their writer."""
