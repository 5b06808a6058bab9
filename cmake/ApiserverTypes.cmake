# apiserver_add_types(<target> [CRDS <file>...] [OPENAPI <file>...] [KINDS <kind>...]
#                     [NAMESPACE <namespace>] [HEADER <path>])
#
# Adds <target>, an interface library with the header HEADER ("<target>.h" if it is not given) of C++
# structs for the kinds of CRDS, CustomResourceDefinitions in YAML or JSON, and of OPENAPI, documents
# as a server has them at /openapi/v2 and below /openapi/v3/. KINDS chooses some of them, "Pet" or
# "Pet.zoo.example.com"; without it there are structs for all. They are in NAMESPACE
# (<target> if it is not given), each version in a namespace of its own within; see
# apiserver/generator/typed_header.h and apiserver/runtime/typed.h. A program that links <target>
# also links apiserver::core or a room that has apiserver::runtime.
function(apiserver_add_types target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAMESPACE;HEADER" "CRDS;OPENAPI;KINDS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT (ARG_CRDS OR ARG_OPENAPI))
    message(FATAL_ERROR
      "apiserver_add_types(${target} CRDS|OPENAPI <file>...): '${ARGN}' is something else")
  endif()
  if(NOT ARG_NAMESPACE)
    set(ARG_NAMESPACE ${target})
  endif()
  if(NOT ARG_HEADER)
    set(ARG_HEADER ${target}.h)
  endif()
  set(files)
  foreach(file IN LISTS ARG_CRDS ARG_OPENAPI)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    list(APPEND files ${file})
  endforeach()
  set(chosen ${ARG_KINDS})
  list(TRANSFORM chosen PREPEND "--kind;")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.types)
  set(header ${folder}/${ARG_HEADER})
  cmake_path(GET header PARENT_PATH header_folder)
  file(MAKE_DIRECTORY ${header_folder})
  add_custom_command(
    OUTPUT ${header}
    COMMAND apiserver::apiserver-gen types --namespace ${ARG_NAMESPACE} --out ${header} ${chosen} ${files}
    DEPENDS ${files} apiserver::apiserver-gen
    COMMENT "Writing the structs of ${target}"
    VERBATIM)
  add_custom_target(${target}_header DEPENDS ${header})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_header)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE ${folder})
endfunction()
