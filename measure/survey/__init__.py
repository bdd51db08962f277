# SPDX-License-Identifier: Apache-2.0
"""What becomes of the programs that people write: int8, partly float, float, refused or wrong."""
