# pgparsed_test(<name> SOURCES <file>... LIBRARIES <target>... [LABELS <label>...] [TIMEOUT <s>] [PREFIX <text>])
# Makes a GoogleTest program and registers each of its tests with ctest, under its name behind the
# prefix: sources that are tested once for each grammar need one.
include(GoogleTest)

function(pgparsed_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;PREFIX" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main
    pgparsed_settings pgparsed_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  set(prefix)
  if(arg_PREFIX)
    set(prefix TEST_PREFIX "${arg_PREFIX}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST ${prefix}
    PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
