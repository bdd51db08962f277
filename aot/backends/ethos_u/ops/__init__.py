# SPDX-License-Identifier: Apache-2.0
"""Dialect ops that only an Ethos-U computes, with its own arithmetic. Each replaces the CPU's op of
the same name after the prefix `ethos_u_`. It takes the same arguments and is written as steps.
"""
