# SPDX-License-Identifier: Apache-2.0
"""The `pl` dialect: typed int8 ops with reference implementations."""
