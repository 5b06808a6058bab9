# Debian packages, one for each that ApiserverRooms.cmake names, and apiserver-sample: `cpack -G DEB` in
# a build folder of the preset "deb". packaging/debian/build does all of it.
#
# What they depend on is written nowhere: it is the packages that own the files in which the build has
# found the third-party targets of their rooms. dpkg is asked when the packages are made.
set(packages "")
foreach(component IN LISTS APISERVER_COMPONENTS)
  get_property(rooms GLOBAL PROPERTY apiserver_rooms_${component})
  if(rooms)
    apiserver_package_of(${component} package)
    list(APPEND packages ${package})
    list(APPEND components_of_${package} ${component})
  endif()
endforeach()
list(REMOVE_DUPLICATES packages)

# Sets <out> to a file of each third-party target that <component> links: "<module>.pc", or an absolute path.
function(apiserver_debian_files component out)
  get_property(links GLOBAL PROPERTY apiserver_links_${component})
  set(files "")
  foreach(target IN LISTS links)
    apiserver_pkg_config_of(${target} module linked)
    string(REGEX REPLACE "::.*" "" package ${target})
    file(GLOB config ${${package}_DIR}/*[Cc]onfig.cmake)
    if(module)
      list(APPEND files ${module}.pc)
    elseif(package STREQUAL IPSec_MB)
      list(APPEND files ${IPSec_MB_INCLUDE_DIR}/intel-ipsec-mb.h)
    elseif(${package}_DIR AND config)
      list(APPEND files ${config})
    elseif(NOT package STREQUAL Threads)
      message(FATAL_ERROR "no file is known by which dpkg would name the package of '${target}'")
    endif()
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

set(APISERVER_DEBIAN_FACTS "")
foreach(package IN LISTS packages)
  set(files "")
  set(own "")
  foreach(component IN LISTS components_of_${package})
    apiserver_debian_files(${component} found)
    list(APPEND files ${found})
    get_property(needs GLOBAL PROPERTY apiserver_needs_${component})
    foreach(needed IN LISTS needs)
      apiserver_package_of(${needed} needed_package)
      list(APPEND own ${needed_package})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES files)
  list(REMOVE_DUPLICATES own)
  list(REMOVE_ITEM own ${package})
  list(JOIN components_of_${package} ", " components)
  list(GET components_of_${package} 0 first)
  string(APPEND APISERVER_DEBIAN_FACTS
    "apiserver_debian_library(${package} \"${APISERVER_ABOUT_${first}}\" \"${components}\" \"${own}\"\n"
    "  \"${files}\")\n")
endforeach()

if(TARGET sample-apiserver)
  list(APPEND packages apiserver-sample)
  set(CPACK_DEBIAN_APISERVER-SAMPLE_DESCRIPTION
"Kubernetes API server in C++: a server for sample kinds
An extension API server for the group wardle.example.com: the C++ counterpart
of k8s.io/sample-apiserver. It runs alone or behind a cluster's aggregator,
and keeps objects in memory, on RocksDB or in etcd.")
  set(CPACK_DEBIAN_APISERVER-SAMPLE_PACKAGE_SECTION net)
  set(CPACK_DEBIAN_APISERVER-SAMPLE_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_APISERVER-SAMPLE_PACKAGE_RECOMMENDS tzdata)
  file(GLOB scripts ${PROJECT_SOURCE_DIR}/packaging/debian/apiserver-sample/*)
  set(CPACK_DEBIAN_APISERVER-SAMPLE_PACKAGE_CONTROL_EXTRA ${scripts})
  file(GLOB units ${PROJECT_SOURCE_DIR}/packaging/systemd/*.service
    ${PROJECT_SOURCE_DIR}/packaging/systemd/*.socket)
  install(FILES ${units} DESTINATION lib/systemd/system COMPONENT apiserver-sample EXCLUDE_FROM_ALL)
endif()
if(TARGET apiserver-gen)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/apiserver-gen.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT apiserver-gen)
  set(completions ${PROJECT_SOURCE_DIR}/packaging/debian/completions)
  install(FILES ${completions}/apiserver-gen.bash RENAME apiserver-gen
    DESTINATION share/bash-completion/completions COMPONENT apiserver-gen)
  install(FILES ${completions}/apiserver-gen.zsh RENAME _apiserver-gen
    DESTINATION share/zsh/vendor-completions COMPONENT apiserver-gen)
  install(FILES ${completions}/apiserver-gen.fish
    DESTINATION share/fish/vendor_completions.d COMPONENT apiserver-gen)
endif()

set(CPACK_COMPONENTS_ALL ${packages})
foreach(package IN LISTS packages)
  string(TOUPPER ${package} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
endforeach()
set(CPACK_PACKAGE_NAME libapiserver)
set(CPACK_PACKAGE_VENDOR libapiserver)
# Each package begins with a line of its own instead.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "libapiserver maintainers <maintainers@libapiserver.invalid>"
  CACHE STRING "Who answers for the Debian packages; name yourself in those that you publish")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package/debian.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
configure_file(${PROJECT_SOURCE_DIR}/packaging/debian/facts.cmake.in
  ${PROJECT_BINARY_DIR}/package/debian.cmake @ONLY)
include(CPack)
