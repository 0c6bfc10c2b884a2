dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl
dnl TLBTUNE_APPEND_COMPILE_FLAGS(FLAGS, VARIABLE)
dnl
dnl Append to VARIABLE each of FLAGS (separated by blanks) that the C compiler
dnl takes. The check runs with -Werror, since clang only warns of an unknown
dnl warning option. CFLAGS belongs to the user and is left as it was.
AC_DEFUN([TLBTUNE_APPEND_COMPILE_FLAGS],
[for tlbtune_flag in $1; do
	AS_VAR_PUSHDEF([cached], [tlbtune_cv_cflag_$tlbtune_flag])
	AC_CACHE_CHECK([whether $CC accepts $tlbtune_flag], [cached],
		[tlbtune_cflags=$CFLAGS
		CFLAGS="$CFLAGS -Werror $tlbtune_flag"
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM],
			[AS_VAR_SET([cached], [yes])],
			[AS_VAR_SET([cached], [no])])
		CFLAGS=$tlbtune_cflags])
	AS_VAR_IF([cached], [yes], [AS_VAR_APPEND([$2], [" $tlbtune_flag"])])
	AS_VAR_POPDEF([cached])
done
])
