# SPDX-License-Identifier: Apache-2.0
"""The artefact: what Pilotlight puts into a .pte beside ExecuTorch's own format, and its writer."""
