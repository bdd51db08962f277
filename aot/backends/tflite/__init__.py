# SPDX-License-Identifier: Apache-2.0
"""Graphs of the dialect to TFLite's files (.tflite)."""
