#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# configure on machines where it must stop: it names everything that is missing
# at once, and the packages to install.

. "${top_srcdir:-.}/tests/tap.sh"

[ -f "$top_srcdir/configure" ] || skip_all "there is no configure"
unset CC CFLAGS CPPFLAGS MAKE PKG_CONFIG PKG_CONFIG_PATH
for module in HWLOC LIBCPUID JANSSON GSL; do
	unset "${module}_CFLAGS" "${module}_LIBS"
done

# Only what configure reads before it stops; the source tree may be configured,
# which would forbid another build of it.
mkdir -p "$tmp/tree/bench/core"
cp -R "$top_srcdir/configure" "$top_srcdir/build-aux" "$tmp/tree"
: >"$tmp/tree/bench/core/stats.h"
cd "$tmp/tree" || exit 1

# run ARGUMENT...: its errors are left in $tmp/errors.
run() {
	./configure --quiet "$@" >/dev/null 2>"$tmp/errors" </dev/null
	status=$?
}

# stopped NAME: configure failed, and said what standard input has.
stopped() {
	ok "$1: it stops" test "$status" -eq 1
	is "$(cat "$tmp/errors")" "$(cat)" "$1: it says why"
}

# pkg-config that knows the modules given, in any version.
pkg_config() {
	{
		echo '#!/bin/sh'
		echo 'for argument; do :; done'
		# shellcheck disable=SC2016
		echo 'case "$* " in'
		echo '*--atleast-pkgconfig-version*) exit 0 ;;'
		for module; do
			echo "*' $module '*) exit 0 ;;"
		done
		echo 'esac'
		echo 'exit 1'
	} >"$tmp/pkg-config"
	chmod +x "$tmp/pkg-config"
}

run --host=aarch64-unknown-linux-gnu
stopped "another CPU" <<'END'
configure: error: tlbtune needs x86-64 Linux, this is aarch64-unknown-linux-gnu
END
run --host=x86_64-unknown-freebsd14
stopped "another kernel" <<'END'
configure: error: tlbtune needs x86-64 Linux, this is x86_64-unknown-freebsd14
END
run --host=x86_64-pc-linux-gnux32
stopped "another ABI" <<'END'
configure: error: tlbtune needs x86-64 Linux, this is x86_64-pc-linux-gnux32
END

pkg_config hwloc jansson
run PKG_CONFIG="$tmp/pkg-config"
stopped "two libraries are missing" <<'END'
configure: error: missing: libcpuid, gsl
  Debian: apt-get install libcpuid-dev libgsl-dev
  Fedora: dnf install libcpuid-devel gsl-devel
  Arch:   pacman -S libcpuid gsl
END

run PKG_CONFIG=false CPPFLAGS=-nostdinc
stopped "pkg-config and all libraries are missing" <<'END'
configure: error: missing: pkg-config, hwloc, libcpuid, jansson, gsl
  Debian: apt-get install pkg-config libhwloc-dev libcpuid-dev libjansson-dev libgsl-dev
  Fedora: dnf install pkgconf-pkg-config hwloc-devel libcpuid-devel jansson-devel gsl-devel
  Arch:   pacman -S pkgconf hwloc libcpuid jansson gsl
END

# The headers are found without pkg-config, if the compiler looks here.
for header in hwloc libcpuid/libcpuid jansson gsl/gsl_version; do
	mkdir -p "$(dirname "$tmp/include/$header")"
	: >"$tmp/include/$header.h"
done
run PKG_CONFIG=false CPPFLAGS="-nostdinc -I$tmp/include"
stopped "pkg-config alone is missing" <<'END'
configure: error: missing: pkg-config
  Debian: apt-get install pkg-config
  Fedora: dnf install pkgconf-pkg-config
  Arch:   pacman -S pkgconf
END

# Everything that PATH has but compilers and make.
mkdir "$tmp/bin"
(
	IFS=:
	for directory in $PATH; do
		find -L "$directory" -maxdepth 1 -type f -perm -u=x \
			! -name '*gcc*' ! -name '*clang*' ! -name '*cc' \
			! -name '*c[89]9*' ! -name cl.exe ! -name '*make*' \
			-exec ln -s -t "$tmp/bin" {} + 2>/dev/null
	done
)
pkg_config hwloc libcpuid jansson
PATH=$tmp/bin run PKG_CONFIG="$tmp/pkg-config"
stopped "the compiler, make and a library are missing" <<'END'
configure: error: missing: C compiler, make, gsl
  Debian: apt-get install gcc libc6-dev make libgsl-dev
  Fedora: dnf install gcc make gsl-devel
  Arch:   pacman -S gcc make gsl
END

done_testing
