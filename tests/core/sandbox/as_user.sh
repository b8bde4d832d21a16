#!/bin/sh
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a test program as the unprivileged user nobody: as_user.sh PROGRAM [ARGUMENT...]
# Exits 77 (skipped) when the caller is not root and so is such a user already.
set -eu
[ "$(id -u)" = 0 ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
# The build folder may lie where nobody cannot read.
cp "$1" "$folder/program"
chmod 755 "$folder/program"
shift
cd /
HOME=/nonexistent setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/program" "$@"
