/*
 * libpg_query 18 is compiled against glibc 2.38 or later, whose headers turn strtoul into
 * __isoc23_strtoul (C23: a "0b" prefix is a binary number). On an older glibc that symbol is
 * missing. PostgreSQL calls strtoul with base 8, 10 and 16 only, where both agree.
 */
#include <features.h>

#if !__GLIBC_PREREQ(2, 38)

#include <stdlib.h>

unsigned long __isoc23_strtoul(const char* text, char** end, int base);

unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return strtoul(text, end, base);
}

#else

/* An empty translation unit is not C. */
typedef int pgparsed_glibc_has_isoc23_strtoul;

#endif
