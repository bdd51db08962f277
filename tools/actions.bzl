# SPDX-License-Identifier: Apache-2.0
"""Actions of rules: all run programs by `run_action`."""

def run_action(ctx, **kwargs):
    """Run a program with the variables of --action_env, such as those of .bazelrc.

    `ctx.actions.run` drops them by default. A lint test refuses it elsewhere.

    Args:
      ctx: of the rule.
      **kwargs: of `ctx.actions.run`.
    """
    ctx.actions.run(use_default_shell_env = True, **kwargs)
