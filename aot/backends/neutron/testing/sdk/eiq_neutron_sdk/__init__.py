# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NXP's eIQ Neutron SDK: the calls of sdk_worker.py and of ExecuTorch's
own backend.
"""
