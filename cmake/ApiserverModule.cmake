# apiserver_module(<room> SOURCES <file>... [DEPENDS <room>...] [LINKS <target>...])
#
# Adds lib/<room> as the static library apiserver_<room>, alias apiserver::<room>. DEPENDS are rooms
# of this project; LINKS are third-party targets, always private, so that no public header needs
# them. A DEPENDS that stands later than <room> in ApiserverRooms.cmake stops the configuration.
include(ApiserverRooms)

# Fails unless <room> may depend on <dependency>.
function(apiserver_check_dependency room dependency)
  set(order ${APISERVER_ROOMS} ${APISERVER_LEAVES})
  list(FIND order ${room} rank)
  if(rank EQUAL -1)
    message(FATAL_ERROR "room '${room}' has no place in cmake/ApiserverRooms.cmake")
  endif()
  list(FIND order ${dependency} dependency_rank)
  if(dependency_rank EQUAL -1)
    message(FATAL_ERROR "room '${room}' depends on '${dependency}', which has no place in "
                        "cmake/ApiserverRooms.cmake")
  endif()
  if(dependency IN_LIST APISERVER_LEAVES AND NOT room IN_LIST APISERVER_LEAVES)
    message(FATAL_ERROR "room '${room}' must not depend on '${dependency}': it is a leaf")
  endif()
  if(NOT dependency_rank LESS rank)
    message(FATAL_ERROR "room '${room}' must not depend on '${dependency}': "
                        "it stands above it in cmake/ApiserverRooms.cmake")
  endif()
endfunction()

function(apiserver_module room)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPENDS;LINKS")
  foreach(dependency IN LISTS ARG_DEPENDS)
    apiserver_check_dependency(${room} ${dependency})
  endforeach()

  add_library(apiserver_${room} STATIC ${ARG_SOURCES})
  add_library(apiserver::${room} ALIAS apiserver_${room})
  set_target_properties(apiserver_${room} PROPERTIES
    EXPORT_NAME ${room}
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(apiserver_${room} PUBLIC cxx_std_20)
  target_include_directories(apiserver_${room}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  list(TRANSFORM ARG_DEPENDS PREPEND apiserver::)
  target_link_libraries(apiserver_${room}
    PUBLIC ${ARG_DEPENDS}
    PRIVATE ${ARG_LINKS} $<BUILD_INTERFACE:apiserver_warnings>)
endfunction()
