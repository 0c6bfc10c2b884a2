dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl
dnl Find everything that is missing before saying so, once, with the names of
dnl the packages, so that nobody has to run configure five times.

dnl TLBTUNE_MISSING(NAME, DEBIAN, FEDORA, ARCH)
dnl
dnl Note that NAME is missing, and the packages that bring it.
AC_DEFUN([TLBTUNE_MISSING],
[AS_VAR_APPEND([tlbtune_missing], [" $1"])
AS_VAR_APPEND([tlbtune_debian], [" $2"])
AS_VAR_APPEND([tlbtune_fedora], [" $3"])
AS_VAR_APPEND([tlbtune_arch], [" $4"])
])

dnl TLBTUNE_REQUIRE_COMPILER
dnl
dnl AC_PROG_CC would stop before the libraries have been looked for. This looks
dnl only for what it would find without the user's help.
AC_DEFUN([TLBTUNE_REQUIRE_COMPILER],
[AS_IF([test "x$CC" = x],
	[AC_CHECK_PROGS([tlbtune_cc],
		[${host_alias:+$host_alias-gcc} gcc cc clang])
	AS_IF([test "x$tlbtune_cc" = x],
		[TLBTUNE_MISSING([C compiler,], [gcc libc6-dev], [gcc], [gcc])])],
	[tlbtune_cc=$CC])
AS_IF([test "x$MAKE" = x],
	[AC_CHECK_PROGS([tlbtune_make], [make gmake])
	AS_IF([test "x$tlbtune_make" = x],
		[TLBTUNE_MISSING([make,], [make], [make], [make])])])
])

dnl TLBTUNE_REQUIRE_MODULE(VARIABLE, MODULE, HEADER, DEBIAN, FEDORA, ARCH)
dnl
dnl Look for a library with pkg-config; MODULE may ask for a version. Without
dnl pkg-config the header tells whether the package is there, so that what the
dnl user is told to install is neither too little nor too much.
AC_DEFUN([TLBTUNE_REQUIRE_MODULE],
[PKG_CHECK_MODULES([$1], [$2], [],
	[AS_IF([test "x$PKG_CONFIG" = x],
		[AS_IF([test "x$tlbtune_no_pkg_config" = x],
			[tlbtune_no_pkg_config=yes
			TLBTUNE_MISSING([pkg-config,], [pkg-config],
				[pkgconf-pkg-config], [pkgconf])])
		AS_IF([test "x$tlbtune_cc" != x &&
			echo '@%:@include <$3>' |
				$tlbtune_cc $CPPFLAGS -E - >/dev/null 2>&1],
			[],
			[TLBTUNE_MISSING([m4_bpatsubst([$2], [ .*]),],
				[$4], [$5], [$6])])],
		[TLBTUNE_MISSING([$2,], [$4], [$5], [$6])])])
])

dnl TLBTUNE_STOP_IF_MISSING
AC_DEFUN([TLBTUNE_STOP_IF_MISSING],
[AS_IF([test "x$tlbtune_missing" != x],
	[AC_MSG_ERROR([missing:${tlbtune_missing%,}
  Debian: apt-get install$tlbtune_debian
  Fedora: dnf install$tlbtune_fedora
  Arch:   pacman -S$tlbtune_arch])])
])
