# SPDX-License-Identifier: Apache-2.0
"""Graph passes, one a file: `aten/` rewrites ATen graphs, `fold_qdq` makes a dialect graph of one
with Q/DQ, `rewrite/` rewrites dialect graphs.
"""
