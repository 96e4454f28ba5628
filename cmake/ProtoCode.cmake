# pgparsed_proto_cpp(<target> [GRPC] PROTOS <file>...)
# Makes a static library from .proto files below ${CMAKE_SOURCE_DIR}/proto. The C++ goes into the
# build tree. With GRPC the service stubs are made too.
function(pgparsed_proto_cpp target)
  cmake_parse_arguments(arg "GRPC" "" "PROTOS" ${ARGN})
  set(out "${CMAKE_BINARY_DIR}/generated/proto")
  file(MAKE_DIRECTORY "${out}")
  set(sources)
  foreach(proto IN LISTS arg_PROTOS)
    string(REGEX REPLACE "\\.proto$" "" stem "${proto}")
    set(files "${out}/${stem}.pb.cc" "${out}/${stem}.pb.h")
    set(flags "--cpp_out=${out}")
    if(arg_GRPC)
      list(APPEND files "${out}/${stem}.grpc.pb.cc" "${out}/${stem}.grpc.pb.h")
      list(APPEND flags "--grpc_out=${out}" "--plugin=protoc-gen-grpc=${PGPARSED_GRPC_CPP_PLUGIN}")
    endif()
    add_custom_command(
      OUTPUT ${files}
      COMMAND protobuf::protoc "--proto_path=${CMAKE_SOURCE_DIR}/proto" ${flags} "${proto}"
      DEPENDS "${CMAKE_SOURCE_DIR}/proto/${proto}" ${PGPARSED_PROTO_DEPENDS}
      COMMENT "protoc ${proto}"
      VERBATIM)
    list(APPEND sources ${files})
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} SYSTEM PUBLIC "${out}")
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf PRIVATE pgparsed_settings)
  if(arg_GRPC)
    target_link_libraries(${target} PUBLIC gRPC::grpc++)
  endif()
endfunction()
