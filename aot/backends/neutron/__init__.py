# SPDX-License-Identifier: Apache-2.0
"""NXP's eIQ Neutron NPUs: regions go to NXP's converter as .tflite files."""
