# SPDX-License-Identifier: Apache-2.0
"""Ops of the dialect that only an Ethos-U computes, with arithmetic of its own: each stands for the
CPU's op of the same name behind `ethos_u_`, takes the same arguments, and is written as steps.
"""
