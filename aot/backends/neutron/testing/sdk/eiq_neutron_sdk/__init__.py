# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NXP's eIQ Neutron SDK: the calls that sdk_worker.py makes, and ExecuTorch's own
backend too.
"""
