# apiserver_add_api(<target> PROTO_PATH <folder> PROTOS <file>... [HEADER <path>] [IMPORTS <folder>...])
#
# Adds <target>, an object library that holds the descriptors of PROTOS with their comments and all
# they import, for apiserver::codec::ProtoSchemas (apiserver/codec/proto_schema.h). PROTOS and their
# imports are named relative to PROTO_PATH; IMPORTS are further folders to find imports in, besides
# this library's own. A program that links <target> includes HEADER, "<target>.h" if it is not given:
#
#   namespace <target> { std::string_view Descriptors(); }
#
# No message classes are generated and nothing is registered with protobuf's libraries.
set_property(GLOBAL PROPERTY apiserver_embed_script ${CMAKE_CURRENT_LIST_DIR}/ApiserverEmbed.cmake)

# Sets <out> to what is run as protoc.
function(apiserver_find_protoc out)
  set(${out} protobuf::protoc PARENT_SCOPE)
  if(NOT TARGET protobuf::protoc)
    find_program(APISERVER_PROTOC protoc DOC "The protobuf compiler")
    if(NOT APISERVER_PROTOC)
      message(FATAL_ERROR "apiserver_add_api needs protoc (Debian: protobuf-compiler)")
    endif()
    set(${out} ${APISERVER_PROTOC} PARENT_SCOPE)
  endif()
endfunction()

function(apiserver_add_api target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PROTO_PATH;HEADER" "PROTOS;IMPORTS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_PROTO_PATH OR NOT ARG_PROTOS)
    message(FATAL_ERROR "apiserver_add_api(${target} PROTO_PATH <folder> PROTOS <file>...): "
                        "'${ARGN}' is something else")
  endif()
  if(NOT target MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "apiserver_add_api: '${target}' is no C++ name, and becomes a namespace")
  endif()
  if(NOT ARG_HEADER)
    set(ARG_HEADER ${target}.h)
  endif()
  apiserver_find_protoc(protoc)
  get_property(own GLOBAL PROPERTY apiserver_proto_path)
  get_property(script GLOBAL PROPERTY apiserver_embed_script)
  set(paths ${own})
  foreach(folder IN LISTS ARG_IMPORTS ARG_PROTO_PATH)
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    list(PREPEND paths ${folder})
  endforeach()
  # What a file imports is not asked for; whatever could be imported counts.
  list(TRANSFORM paths APPEND /*.proto OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE imports CONFIGURE_DEPENDS ${patterns})
  list(TRANSFORM paths PREPEND --proto_path=)

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.api)
  set(header ${folder}/${ARG_HEADER})
  set(made ${folder}/${target}.binpb ${folder}/${target}.cc)
  add_custom_command(
    OUTPUT ${made} ${header}
    COMMAND ${protoc} ${paths} --include_imports --include_source_info
            --descriptor_set_out=${folder}/${target}.binpb ${ARG_PROTOS}
    COMMAND ${CMAKE_COMMAND} -D name=${target} -D bytes=${folder}/${target}.binpb
            -D source=${folder}/${target}.cc -D header=${header} -P ${script}
    DEPENDS ${imports} ${script}
    COMMENT "Embedding the descriptors of ${target}"
    VERBATIM)
  file(MAKE_DIRECTORY ${folder})
  add_library(${target} OBJECT ${folder}/${target}.cc ${header})
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
