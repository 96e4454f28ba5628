# Finds each libpg_query that is there and makes pgparsed::grammar_<major> of it.
#
# A grammar is a prefix with include/pg_query.h and lib/<arch>/libpg_query.a, as libpg-query-dev
# unpacks it. script/setup puts them under build/grammars/<major>/usr; another place is given with
# -DPGPARSED_GRAMMAR_<major>_ROOT=…. A newer grammar is one more number in PGPARSED_KNOWN_GRAMMARS.
#
# pgparsed::grammar_<major> carries the public header, the archive and what that needs to link.
# PostgreSQL's internal headers come apart, as pgparsed::grammar_<major>_internal: from the package
# itself (17 and later) or from postgresql-server-dev-15 (PGPARSED_GRAMMAR_15_SERVER_ROOT).
#
# Results: PGPARSED_GRAMMARS (list of majors found), PGPARSED_GRAMMAR_<major>_PROTO (pg_query.proto),
# PGPARSED_GRAMMAR_<major>_VERSION (of libpg_query).

set(PGPARSED_KNOWN_GRAMMARS 15 17 18)
set(PGPARSED_GRAMMARS)
set(_table "")

# The library's own version stands in its changelog only: "## 18.1.0  2026-09-30".
function(_pgparsed_library_version root out)
  set(version "unknown")
  set(changelog "${root}/share/doc/libpg-query-dev/changelog.gz")
  if(EXISTS "${changelog}")
    execute_process(COMMAND gzip -dc "${changelog}" OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "\n## ([0-9][0-9.]*(-[0-9.]+)?)")
      set(version "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

foreach(major IN LISTS PGPARSED_KNOWN_GRAMMARS)
  set(PGPARSED_GRAMMAR_${major}_ROOT "${CMAKE_SOURCE_DIR}/build/grammars/${major}/usr"
    CACHE PATH "Prefix of libpg_query ${major}")
  set(root "${PGPARSED_GRAMMAR_${major}_ROOT}")
  set(PGPARSED_GRAMMAR_${major}_SERVER_ROOT "${root}"
    CACHE PATH "Prefix of postgresql-server-dev-${major} (only where libpg_query lacks the headers)")
  set(server_root "${PGPARSED_GRAMMAR_${major}_SERVER_ROOT}")

  find_file(_archive_${major} libpg_query.a PATHS "${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}" "${root}/lib"
    NO_DEFAULT_PATH)
  if(NOT EXISTS "${root}/include/pg_query.h" OR NOT _archive_${major})
    string(APPEND _table "  ${major}     -            not found in ${root}: run script/setup\n")
    unset(_archive_${major} CACHE)
    continue()
  endif()

  if(EXISTS "${root}/include/pg_query/postgres/postgres.h")
    set(internal "${root}/include/pg_query/postgres")
  elseif(EXISTS "${server_root}/include/postgresql/${major}/server/postgres.h")
    set(internal "${server_root}/include/postgresql/${major}/server")
  else()
    string(APPEND _table "  ${major}     -            no PostgreSQL headers: run script/setup\n")
    continue()
  endif()

  add_library(pgparsed_grammar_${major} INTERFACE)
  add_library(pgparsed::grammar_${major} ALIAS pgparsed_grammar_${major})
  target_include_directories(pgparsed_grammar_${major} SYSTEM INTERFACE "${root}/include")
  target_link_libraries(pgparsed_grammar_${major} INTERFACE "${_archive_${major}}" Threads::Threads m)

  add_library(pgparsed_grammar_${major}_internal INTERFACE)
  add_library(pgparsed::grammar_${major}_internal ALIAS pgparsed_grammar_${major}_internal)
  target_include_directories(pgparsed_grammar_${major}_internal SYSTEM INTERFACE
    "${internal}" "${root}/include/pg_query")
  target_link_libraries(pgparsed_grammar_${major}_internal INTERFACE pgparsed_grammar_${major})

  if(major GREATER_EQUAL 18)
    # libpg_query 18 is built against a newer glibc: strlcpy comes from libbsd where glibc lacks
    # it, __isoc23_strtoul from a shim.
    add_library(pgparsed_glibc_shim_${major} STATIC "${CMAKE_SOURCE_DIR}/server/grammar/glibc_shim.c")
    target_link_libraries(pgparsed_glibc_shim_${major} PRIVATE pgparsed_settings pgparsed_warnings)
    target_link_libraries(pgparsed_grammar_${major} INTERFACE pgparsed_glibc_shim_${major} PkgConfig::LIBBSD)
  endif()

  _pgparsed_library_version("${root}" version)
  set(PGPARSED_GRAMMAR_${major}_VERSION "${version}")
  set(PGPARSED_GRAMMAR_${major}_PROTO "${root}/include/pg_query/pg_query.proto")
  list(APPEND PGPARSED_GRAMMARS ${major})
  string(LENGTH "${version}" length)
  math(EXPR pad "13 - ${length}")
  string(REPEAT " " ${pad} spaces)
  string(APPEND _table "  ${major}     ${version}${spaces}${root}\n")
endforeach()

message(STATUS "Grammars:\n  major  libpg_query  prefix\n${_table}")
if(NOT PGPARSED_GRAMMARS)
  message(FATAL_ERROR "No libpg_query was found. Run script/setup, or give one with "
    "-DPGPARSED_GRAMMAR_18_ROOT=<prefix that holds include/pg_query.h>.")
endif()
