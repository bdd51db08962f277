# SPDX-License-Identifier: Apache-2.0
"""TFLite's files (.tflite) to graphs of the dialect."""
