# Installs headers, one export set and one .pc file per component, and apiserverConfig.cmake.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/apiserver)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT libapiserver-dev FILES_MATCHING PATTERN "*.h" PATTERN "*.proto")

# Per component: its third-party targets and the components it links, both for the config file.
set(APISERVER_COMPONENT_FACTS "")
foreach(component IN LISTS APISERVER_COMPONENTS)
  get_property(rooms GLOBAL PROPERTY apiserver_rooms_${component})
  if(NOT rooms)
    continue()
  endif()
  apiserver_package_of(${component} package)
  install(EXPORT apiserver-${component} NAMESPACE apiserver:: DESTINATION ${package_dir}
    COMPONENT ${package})
  get_property(links GLOBAL PROPERTY apiserver_links_${component})
  get_property(needs GLOBAL PROPERTY apiserver_needs_${component})
  list(REMOVE_DUPLICATES links)
  list(REMOVE_DUPLICATES needs)
  string(APPEND APISERVER_COMPONENT_FACTS
    "list(APPEND _apiserver_components ${component})\n"
    "set(_apiserver_package_${component} ${package})\n"
    "set(_apiserver_links_${component} ${links})\n"
    "set(_apiserver_needs_${component} ${needs})\n")
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/apiserverConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/apiserverConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/apiserverConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/apiserverConfig.cmake
  ${PROJECT_BINARY_DIR}/package/apiserverConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ApiserverApi.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ApiserverEmbed.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ApiserverThirdParty.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ApiserverTypes.cmake
  DESTINATION ${package_dir} COMPONENT libapiserver-dev)

include(ApiserverPkgConfig)
if(APISERVER_DEBIAN)
  include(ApiserverDebian)
endif()
