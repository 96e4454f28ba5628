# What every target of the project is compiled with. Link pgparsed_settings; never imported code.
option(PGPARSED_BUILD_TESTS "Build the tests" ON)
option(PGPARSED_WERROR "Treat warnings as errors (on in CI)" OFF)
set(PGPARSED_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(PGPARSED_CCACHE ccache)
if(PGPARSED_CCACHE)
  foreach(lang C CXX)
    if(NOT CMAKE_${lang}_COMPILER_LAUNCHER)
      set(CMAKE_${lang}_COMPILER_LAUNCHER "${PGPARSED_CCACHE}")
    endif()
  endforeach()
endif()

add_library(pgparsed_settings INTERFACE)
target_compile_features(pgparsed_settings INTERFACE cxx_std_20 c_std_11)
target_compile_definitions(pgparsed_settings INTERFACE PGPARSED_VERSION="${PROJECT_VERSION}")
target_include_directories(pgparsed_settings INTERFACE "${CMAKE_SOURCE_DIR}/include")
# For #include "…" only: server/grpc must not hide gRPC's own <grpc/…> headers.
target_compile_options(pgparsed_settings INTERFACE "SHELL:-iquote \"${CMAKE_SOURCE_DIR}/server\"")

find_program(PGPARSED_MOLD mold)
if(PGPARSED_MOLD)
  target_link_options(pgparsed_settings INTERFACE -fuse-ld=mold)
endif()

if(PGPARSED_SANITIZE)
  target_compile_options(pgparsed_settings INTERFACE
    -fsanitize=${PGPARSED_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(pgparsed_settings INTERFACE -fsanitize=${PGPARSED_SANITIZE})
  target_compile_definitions(pgparsed_settings INTERFACE PGPARSED_SANITIZED=1)
else()
  target_compile_options(pgparsed_settings INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2> -fstack-protector-strong)
endif()
