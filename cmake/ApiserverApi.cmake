# apiserver_add_api(<target> PROTO_PATH <folder> PROTOS <file>... [HEADER <path>] [IMPORTS <folder>...]
#                   [CLASSES])
#
# Adds <target>, an object library that holds the descriptors of PROTOS with their comments and all
# they import, for apiserver::codec::ProtoSchemas (apiserver/codec/proto_schema.h). PROTOS and their
# imports are named relative to PROTO_PATH; IMPORTS are further folders to find imports in, besides
# this library's own. A program that links <target> includes HEADER, "<target>.h" if it is not given:
#
#   namespace <target> { std::string_view Descriptors(); }
#
# No message classes are generated and nothing is registered with protobuf's libraries, unless CLASSES
# asks for them: then "<file>.pb.h" of each of PROTOS can be included too, for ToMessage() and
# FromMessage() (apiserver/codec/message.h).
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

# Has protoc write message classes of <protos> into <folder>; sets <out> to their sources.
function(apiserver_generate_classes out folder protos)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "" "" "PATHS;DEPENDS")
  apiserver_find_protoc(protoc)
  list(TRANSFORM protos REPLACE "\\.proto$" ".pb.cc" OUTPUT_VARIABLE sources)
  list(TRANSFORM protos REPLACE "\\.proto$" ".pb.h" OUTPUT_VARIABLE headers)
  list(TRANSFORM sources PREPEND ${folder}/)
  list(TRANSFORM headers PREPEND ${folder}/)
  add_custom_command(
    OUTPUT ${sources} ${headers}
    COMMAND ${protoc} ${ARG_PATHS} --cpp_out=${folder} ${protos}
    DEPENDS ${ARG_DEPENDS}
    VERBATIM)
  # It is not ours how protoc writes.
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-w")
  set(${out} ${sources} ${headers} PARENT_SCOPE)
endfunction()

# apiserver_meta_classes: those of this library's own files, once for all who ask for classes.
function(apiserver_add_meta_classes)
  if(TARGET apiserver_meta_classes)
    return()
  endif()
  find_package(Protobuf REQUIRED)
  get_property(own GLOBAL PROPERTY apiserver_proto_path)
  set(machinery k8s.io/apimachinery/pkg)
  list(TRANSFORM own PREPEND --proto_path= OUTPUT_VARIABLE paths)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/apiserver_meta_classes.api)
  file(MAKE_DIRECTORY ${folder})
  apiserver_generate_classes(sources ${folder}
    "apiserver/codec/schema.proto;${machinery}/apis/meta/v1/generated.proto;${machinery}/runtime/generated.proto;${machinery}/runtime/schema/generated.proto;${machinery}/api/resource/generated.proto;${machinery}/util/intstr/generated.proto"
    PATHS ${paths})
  add_library(apiserver_meta_classes STATIC EXCLUDE_FROM_ALL ${sources})
  target_compile_features(apiserver_meta_classes PUBLIC cxx_std_17)
  target_include_directories(apiserver_meta_classes SYSTEM PUBLIC ${folder})
  target_link_libraries(apiserver_meta_classes PUBLIC protobuf::libprotobuf)
  set_target_properties(apiserver_meta_classes PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

function(apiserver_add_api target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "CLASSES" "PROTO_PATH;HEADER" "PROTOS;IMPORTS")
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
  if(ARG_CLASSES)
    apiserver_add_meta_classes()
    apiserver_generate_classes(classes ${folder} "${ARG_PROTOS}" PATHS ${paths} DEPENDS ${imports})
    target_sources(${target} PRIVATE ${classes})
    target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${folder}>)
    target_link_libraries(${target} PUBLIC apiserver_meta_classes)
  endif()
endfunction()
