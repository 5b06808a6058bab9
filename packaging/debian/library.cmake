# apiserver_debian_library(<package> <about> <components> <packages> <files>): sets what CPack must know of
# a package of libraries. It depends on <packages> of this project in the same version, and on those that
# own <files>.

# Sets <out> to the package that owns the file, "<module>.pc" or an absolute path.
function(apiserver_debian_owner file out)
  if(NOT IS_ABSOLUTE ${file})
    string(REGEX REPLACE "\\.pc$" "" module ${file})
    execute_process(COMMAND pkg-config --variable=pcfiledir ${module}
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(file ${folder}/${file})
  endif()
  # A file that is reached through a link belongs to nobody by that name.
  file(REAL_PATH ${file} file)
  execute_process(COMMAND dpkg-query --search ${file} OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[:,].*" "" owner "${owner}")
  set(${out} ${owner} PARENT_SCOPE)
endfunction()

function(apiserver_debian_library package about components own files)
  string(TOUPPER ${package} upper)
  set(depends "")
  foreach(other IN LISTS own)
    list(APPEND depends "${other} (= ${CPACK_PACKAGE_VERSION})")
  endforeach()
  set(owners "")
  foreach(file IN LISTS files)
    apiserver_debian_owner(${file} owner)
    list(APPEND owners ${owner})
  endforeach()
  list(SORT owners)
  list(REMOVE_DUPLICATES owners)
  list(APPEND depends ${owners})
  if(package STREQUAL libapiserver-dev)
    # By which the CMake package finds some of them.
    list(APPEND depends pkgconf)
  endif()
  list(JOIN depends ", " depends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION libdevel PARENT_SCOPE)
  if(package STREQUAL apiserver-gen)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION devel PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON PARENT_SCOPE)
  endif()
  if(package STREQUAL libapiserver-dev)
    # For apiserver_add_api() and for CEL's time zones.
    set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "protobuf-compiler, tzdata" PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "apiserver-gen, cmake" PARENT_SCOPE)
  endif()
  # CPack indents these lines.
  set(CPACK_DEBIAN_${upper}_DESCRIPTION
"Kubernetes API server in C++: ${about}
libapiserver is the Kubernetes API server as an embeddable C++20 library: a
program links it, says which kinds of objects it serves and where they are
stored, and kubectl and client-go use it like any other server.

Static libraries, with the CMake components and pkg-config files of:
${components}." PARENT_SCOPE)
endfunction()
