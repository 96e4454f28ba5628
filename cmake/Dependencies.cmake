# Everything comes from the distribution's packages (script/setup installs them).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG QUIET)
find_package(absl REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(LIBBSD REQUIRED IMPORTED_TARGET libbsd)

if(NOT gRPC_FOUND)
  # Some packages of gRPC ship pkg-config files only.
  pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET grpc++)
  add_library(gRPC::grpc++ ALIAS PkgConfig::GRPCPP)
endif()
find_library(PGPARSED_GRPC_REFLECTION grpc++_reflection REQUIRED)
find_program(PGPARSED_GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

if(PGPARSED_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
