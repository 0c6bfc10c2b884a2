# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# common.sh: what the scripts of this directory share.

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P) || exit 1
# shellcheck disable=SC2034
series_dir=$vm/..
# shellcheck disable=SC2034
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tlbtune
me=${0##*/}

# die STATUS TEXT...
die() {
	local status=$1
	shift
	echo "$me: $*" >&2
	exit "$status"
}

# digest: 16 hexadecimal digits for standard input.
digest() {
	sha256sum | cut -c 1-16
}

# tarball SERIES: the source that Debian's package of that series installs.
tarball() {
	echo "/usr/src/linux-source-${1#linux-}.tar.xz"
}
