# SPDX-License-Identifier: Apache-2.0
"""Graph passes, one a file: ATen clean-up, ATen with Q/DQ to the dialect, and the dialect's own
rewrites.
"""
