# SPDX-License-Identifier: Apache-2.0
"""The int8 quantizer: one for all targets, over torchao's PT2E flow."""
