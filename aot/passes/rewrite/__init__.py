# SPDX-License-Identifier: Apache-2.0
"""The second phase: rewrites of the dialect graph; the verifier runs after each."""
