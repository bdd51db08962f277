#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What a py_binary or py_test starts with: it finds the runfiles and gives them to Python. Bazel writes
# what it knows in place of the words in percent signs. Its own text for this is a Python program, which
# takes as long to start as many a program that it starts.

set -eu

main='%main%'

# Those that the caller says may be the caller's own.
runfiles=${RUNFILES_DIR:-}
case ${runfiles:-${RUNFILES_MANIFEST_FILE:-}} in
*.runfiles_manifest) runfiles=${RUNFILES_MANIFEST_FILE%_manifest} ;;
*.runfiles/MANIFEST) runfiles=${RUNFILES_MANIFEST_FILE%/MANIFEST} ;;
esac

# Else they are beside this program, or around it, or there where a link leads to.
if [ ! -e "${runfiles:-/nowhere}/$main" ]; then
    case $0 in
    /*) program=$0 ;;
    *) program=$PWD/$0 ;;
    esac
    while :; do
        runfiles=$program.runfiles
        [ ! -d "$runfiles" ] || break
        case $program in
        *.runfiles/*)
            runfiles=${program%.runfiles/*}.runfiles
            break
            ;;
        esac
        if [ ! -L "$program" ]; then
            echo "$0: its folder of runfiles is missing" >&2
            exit 1
        fi
        target=$(readlink "$program")
        case $target in
        /*) program=$target ;;
        *) program=${program%/*}/$target ;;
        esac
    done
fi

# For programs that it starts, and for what looks up files by their names.
if [ -z "${RUNFILES_MANIFEST_FILE:-}${RUNFILES_DIR:-}" ]; then
    if [ -e "${runfiles}_manifest" ]; then
        export RUNFILES_MANIFEST_FILE="${runfiles}_manifest"
    elif [ -e "$runfiles/MANIFEST" ]; then
        export RUNFILES_MANIFEST_FILE="$runfiles/MANIFEST"
    else
        export RUNFILES_DIR="$runfiles"
    fi
fi

modules=$runfiles
imports='%imports%'
IFS=:
for folder in $imports; do
    modules=$modules:$runfiles/$folder
done
unset IFS
for repository in "$runfiles"/*/; do
    modules=$modules:${repository%/}
done
export PYTHONPATH="$modules${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONSAFEPATH=1

exec "$runfiles/%python_binary%" "$runfiles/$main" "$@"
