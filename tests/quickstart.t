#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# quickstart on machines that lack this and that. Nothing is installed or
# built: every command that it could call is a stub that notes the call.

. "${top_srcdir:-.}/tests/tap.sh"

calls=$tmp/calls
bin=$tmp/bin
tree="$tmp/a tree"
export calls

# stub NAME: a command whose body is standard input.
stub() {
	{
		echo '#!/bin/sh'
		# shellcheck disable=SC2016
		echo 'echo "${0##*/}${*:+ $*}" >>"$calls"'
		cat
	} >"$bin/$1"
	chmod +x "$bin/$1"
}

# machine: root on Debian with everything installed, and a new checkout.
machine() {
	rm -rf "$bin" "$tree"
	mkdir -p "$bin" "$tree/.git"
	for tool in cat chmod dirname env getconf grep rm sh touch; do
		ln -s "$(command -v $tool)" "$bin/$tool"
	done
	cp "$top_srcdir/quickstart" "$tree"
	for tool in autoconf automake gcc make apt-get apt-cache; do
		stub $tool </dev/null
	done
	user 0
	modules hwloc libcpuid jansson gsl libtracefs
	stub autoreconf <<'END'
touch Makefile.in config.h.in
cat >configure <<'SCRIPT'
#!/bin/sh
echo "configure $*" >>"$calls"
touch config.status
echo "abs_top_builddir = $(pwd)" >Makefile
SCRIPT
cat >tune <<'SCRIPT'
#!/bin/sh
printf 'tune' >>"$calls"
printf ' <%s>' "$@" >>"$calls"
echo >>"$calls"
SCRIPT
chmod +x configure tune
END
}

# user ID
user() {
	printf '#!/bin/sh\necho %s\n' "$1" >"$bin/id"
	chmod +x "$bin/id"
}

# modules NAME...: what pkg-config knows. It is not noted.
modules() {
	{
		echo '#!/bin/sh'
		# A version may be asked for.
		# shellcheck disable=SC2016
		echo 'case ${2%% *} in'
		for module; do
			echo "'$module') exit 0 ;;"
		done
		echo 'esac'
		echo 'exit 1'
	} >"$bin/pkg-config"
	chmod +x "$bin/pkg-config"
}

# run ARGUMENT...: quickstart, from elsewhere. $calls has the calls (but for the
# compiler's), $tmp/out what it said, $status its exit status.
run() {
	: >"$calls"
	(cd / && PATH=$bin && "$tree/quickstart" "$@") >"$tmp/out" 2>&1
	status=$?
	sed '/^gcc /d; s/ -j [0-9]*//' "$calls" >"$tmp/called"
}

# called NAME: standard input is the list of calls.
called() {
	is "$(cat "$tmp/called")" "$(cat)" "$1"
}

machine
run
is "$status" 0 "a machine that has everything"
called "a new checkout is made into a build, and run" <<'END'
autoreconf -fi
configure --quiet
make --no-print-directory -s all
tune <>
END

run --quick "a b"
is "$status" 0 "the second time"
called "nothing is done again; tune is given the options" <<'END'
make --no-print-directory -s all
tune <--quick> <a b>
END

run -- check
called "-- ends the options of quickstart" <<'END'
make --no-print-directory -s all
tune <check>
END

run check
called "check" <<'END'
make --no-print-directory -s check-programs
make --no-print-directory check
END

run check more
is "$status" 2 "check takes no options"
called "... and does nothing then" </dev/null
run --help
is "$status" 0 "--help"
like "$(cat "$tmp/out")" '^Usage: \./quickstart' "... shows the usage"

mv "$tree" "$tmp/another tree"
tree="$tmp/another tree"
run
called "a tree that was moved is configured again" <<'END'
configure --quiet
make --no-print-directory -s all
tune <>
END

machine
modules hwloc jansson libtracefs
run packages
is "$status" 0 "root, libraries missing"
called "... exactly those are installed" <<'END'
apt-cache show libcpuid-dev libgsl-dev
apt-get install -y --no-install-recommends libcpuid-dev libgsl-dev
END

echo 'exit 100' | stub apt-cache
run packages
called "... after an update, where the lists do not know them" <<'END'
apt-cache show libcpuid-dev libgsl-dev
apt-get update
apt-get install -y --no-install-recommends libcpuid-dev libgsl-dev
END

user 1000
run
is "$status" 77 "a user without sudo, libraries missing"
called "... nothing is done" </dev/null
is "$(cat "$tmp/out")" "quickstart: as root, run: apt-get install -y \
--no-install-recommends libcpuid-dev libgsl-dev" "... one line says what to do"

echo 'exit 1' | stub sudo
run
is "$status" 77 "a user whose sudo asks for a password"
called "... it is not let ask" <<'END'
sudo -n true
END

# shellcheck disable=SC2016
echo 'shift; "$@"' | stub sudo
stub apt-cache </dev/null
run packages
is "$status" 0 "a user with sudo"
called "... it is used" <<'END'
sudo -n true
apt-cache show libcpuid-dev libgsl-dev
sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libcpuid-dev libgsl-dev
apt-get install -y --no-install-recommends libcpuid-dev libgsl-dev
END

machine
user 1000
echo 'exit 1' | stub gcc
rm "$bin/make" "$bin/pkg-config" "$bin/autoconf" "$bin/automake"
run
is "$status" 77 "a user on a machine that has nothing"
like "$(cat "$tmp/out")" ': apt-get install -y --no-install-recommends gcc libc6-dev make pkg-config libhwloc-dev libcpuid-dev libjansson-dev libgsl-dev autoconf automake$' \
	"... everything is named"

mv "$bin/apt-get" "$bin/dnf"
run
like "$(cat "$tmp/out")" ': dnf install -y gcc glibc-devel make pkgconf-pkg-config hwloc-devel libcpuid-devel jansson-devel gsl-devel autoconf automake$' \
	"... as Fedora has it"
mv "$bin/dnf" "$bin/pacman"
run
like "$(cat "$tmp/out")" ': pacman -S --needed --noconfirm gcc make pkgconf hwloc libcpuid jansson gsl autoconf automake$' \
	"... as Arch has it"
rm "$bin/pacman"
user 0
run
is "$status" 77 "a system whose packages are not known"
like "$(cat "$tmp/out")" ' libhwloc-dev ' "... is told the names of Debian"

machine
modules hwloc libcpuid jansson gsl
run
is "$status" 0 "a library it can do without is missing"
called "... it is installed" <<'END'
apt-cache show libtracefs-dev libtraceevent-dev
apt-get install -y --no-install-recommends libtracefs-dev libtraceevent-dev
autoreconf -fi
configure --quiet
make --no-print-directory -s all
tune <>
END
run
called "... once, whatever came of it" <<'END'
make --no-print-directory -s all
tune <>
END
machine
modules hwloc libcpuid jansson gsl
echo 'exit 100' | stub apt-get
run
is "$status" 0 "... that fails"
like "$(cat "$tmp/out")" 'no program can trace' "... is no reason to stop"
machine
modules hwloc libcpuid jansson gsl
user 1000
run
is "$status" 0 "... nor is a user who cannot install it"
is "$(cat "$tmp/out")" "quickstart: as root, run: apt-get install -y \
--no-install-recommends libtracefs-dev libtraceevent-dev
quickstart: without them, no program can trace" "... who is told"

machine
rmdir "$tree/.git"
rm "$bin/autoconf" "$bin/automake"
(cd "$tree" && calls=/dev/null "$bin/autoreconf")
run
is "$status" 0 "a tarball needs no Autotools"
called "... and is configured as it is" <<'END'
configure --quiet
make --no-print-directory -s all
tune <>
END

machine
echo 'exit 100' | stub apt-get
modules
run
is "$status" 100 "packages that cannot be installed are the end"

machine
echo 'exit 2' | stub make
run
is "$status" 2 "a build that fails is the end"

# missing PACKAGE...: what the list of check-kernel says.
missing() {
	mkdir -p "$tree/kernel-patch/vm"
	printf '#!/bin/sh\nprintf "%%s\\\\n" %s\n' "$*" \
		>"$tree/kernel-patch/vm/missing-packages"
	chmod +x "$tree/kernel-patch/vm/missing-packages"
}

machine
missing linux-source-6.1 qemu-system-x86
run check-kernel
is "$status" 0 "check-kernel, packages missing"
called "... they are installed, and it is run" <<'END'
apt-cache show linux-source-6.1 qemu-system-x86
apt-get install -y --no-install-recommends linux-source-6.1 qemu-system-x86
autoreconf -fi
configure --quiet
make --no-print-directory -s check-kernel
END
rm "$bin/apt-get"
stub dnf </dev/null
run check-kernel
is "$status" 77 "check-kernel, not on Debian"
called "... nothing is done" </dev/null

done_testing
