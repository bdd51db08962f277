# SPDX-License-Identifier: Apache-2.0
"""Actions with programs that Bazel may keep, so that imports happen once (bazel_worker.py)."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_python//python:defs.bzl", "PyInfo")

WORKERS = {"_workers": attr.label(default = "//tools/worker:workers")}

def action_arguments(ctx):
    """Makes Args as a worker takes them.

    Args:
      ctx: of the rule.

    Returns:
      Args, for a file of flags.
    """
    arguments = ctx.actions.args()
    arguments.set_param_file_format("multiline")
    arguments.use_param_file("--flagfile=%s", use_always = True)
    return arguments

def execution_requirements(ctx):
    """Return the execution requirements of an action whose program calls `run_actions`.

    Args:
      ctx: of the rule; it has the attributes WORKERS.

    Returns:
      A dict.
    """
    if not ctx.attr._workers[BuildSettingInfo].value:
        return {}
    return {
        "requires-worker-protocol": "json",
        "supports-worker-cancellation": "1",
        "supports-workers": "1",
    }

def _of_file(file):
    return "%s\t%s" % (file.short_path, file.path)

def _of_link(link):
    return "%s\t%s" % (link.path, link.target_file.path)

def _of_root_link(link):
    return "../%s\t%s" % (link.path, link.target_file.path)

def runfiles_list(ctx, program):
    """Make another program's runfiles inputs of an action.

    They are not tools of the action, so a worker continues with those of another program.

    Args:
      ctx: of the rule.
      program: target of a py_binary.

    Returns:
      The file for the function `runfiles`, and a depset of all inputs: the file and the
        files it lists.
    """
    runfiles = program[DefaultInfo].default_runfiles
    mapping = program[DefaultInfo].files_to_run.repo_mapping_manifest
    lines = ctx.actions.args()
    lines.set_param_file_format("multiline")
    lines.add(ctx.workspace_name)
    lines.add_all(program[PyInfo].imports)
    lines.add("")
    lines.add_all(runfiles.files, map_each = _of_file)
    lines.add_all(runfiles.symlinks, map_each = _of_link)
    lines.add_all(runfiles.root_symlinks, map_each = _of_root_link)
    lines.add_all([mapping] if mapping else [], format_each = "../_repo_mapping\t%s")
    listed = ctx.actions.declare_file(ctx.label.name + ".list")
    ctx.actions.write(listed, lines)
    links = runfiles.symlinks.to_list() + runfiles.root_symlinks.to_list()
    single = [listed] + [link.target_file for link in links] + ([mapping] if mapping else [])
    return listed, depset(single, transitive = [runfiles.files])
