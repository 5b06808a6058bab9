# Installs apiserver-<component>.pc per component, and apiserver.pc, another name of apiserver-core.
#
# There are static libraries only. What they link is therefore in Requires and Libs, not in the private
# fields that pkg-config reads with --static, so that nobody has to remember that option.

# From the folder of the file to the prefix: the tree may be installed anywhere and moved.
file(RELATIVE_PATH APISERVER_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)

function(apiserver_install_pc name package about requires libs variables)
  list(JOIN requires ", " requires)
  list(JOIN libs " " libs)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/apiserver.pc.in
    ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${package})
endfunction()

# The components needed, last first, as each may need those before it; parts of other builds do not fit.
function(apiserver_pc_components component out)
  get_property(needs GLOBAL PROPERTY apiserver_needs_${component})
  set(requires "")
  foreach(needed IN LISTS APISERVER_COMPONENTS)
    if(needed IN_LIST needs)
      list(PREPEND requires "apiserver-${needed} = ${PROJECT_VERSION}")
    endif()
  endforeach()
  set(${out} "${requires}" PARENT_SCOPE)
endfunction()

function(apiserver_install_component_pc component)
  get_property(rooms GLOBAL PROPERTY apiserver_rooms_${component})
  list(TRANSFORM rooms PREPEND "-lapiserver_" OUTPUT_VARIABLE libs)
  # A linker looks for what a room needs in the libraries behind it.
  list(REVERSE libs)
  apiserver_pc_components(${component} requires)
  get_property(links GLOBAL PROPERTY apiserver_links_${component})
  foreach(target IN LISTS links)
    apiserver_pkg_config_of(${target} module linked)
    list(APPEND requires ${module})
    list(APPEND libs ${linked})
  endforeach()
  list(REMOVE_DUPLICATES requires)
  list(REMOVE_DUPLICATES libs)
  set(variables "")
  if(component STREQUAL generator)
    set(variables "apiserver_gen=\${prefix}/${CMAKE_INSTALL_BINDIR}/apiserver-gen\n")
  endif()
  apiserver_package_of(${component} package)
  apiserver_install_pc(apiserver-${component} ${package} "${APISERVER_ABOUT_${component}}"
    "${requires}" "${libs}" "${variables}")
endfunction()

foreach(component IN LISTS APISERVER_COMPONENTS)
  get_property(rooms GLOBAL PROPERTY apiserver_rooms_${component})
  if(rooms)
    apiserver_install_component_pc(${component})
  endif()
endforeach()
apiserver_install_pc(apiserver libapiserver-dev "${APISERVER_ABOUT_core}"
  "apiserver-core = ${PROJECT_VERSION}" "" "")
