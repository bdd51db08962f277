# SPDX-License-Identifier: Apache-2.0
"""For tests: files made op by op, and TFLite Micro's interpreter as the oracle."""
