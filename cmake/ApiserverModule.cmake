# apiserver_module(<room> SOURCES <file>... [ALONE <file>...] [DEPENDS <room>...] [LINKS <target>...]
#                  [APIS <api>...])
#
# Adds lib/<room> as the static library apiserver_<room>, alias apiserver::<room>. DEPENDS are rooms
# of this project; LINKS are third-party targets, always private, so that no public header needs
# them; ApiserverThirdParty.cmake knows where they come from. APIS are what apiserver_add_api() has
# made, which becomes part of the room. With APISERVER_UNITY up to sixteen SOURCES are compiled at a time,
# in parts of like sizes, which takes an eighth less than twice eight. ALONE are sources that stay a unit
# of their own then: the loops of a parser or writer take up to half as many instructions again where GCC
# sees more callers of what they call, and no longer puts it in place. A DEPENDS that stands later than
# <room> in ApiserverRooms.cmake stops the configuration.
include(ApiserverRooms)
include(ApiserverThirdParty)

# Rooms that parse and count so much in tests that they are optimized with sanitizers, too. All others
# are only compiled then: clang takes half its time to optimize, g++ a third.
set(APISERVER_ROOMS_SANITIZED_OPTIMIZED text base runtime codec cel authz http)

# Rooms that read strangers' bytes, whose paths libFuzzer counts.
set(APISERVER_ROOMS_FUZZED
  text base runtime meta codec patch patch.apply http proxy request client cel audit authn authz
  admission apiextensions aggregator)

# Rooms whose code runs when a program starts, seldom, or in tests, and kinds and controllers, whose share
# of a request is small: optimized less, which takes g++ less time. Not for size: the linker takes a
# template that several rooms have made from the first of them, and for size std::string copies with
# `rep movsb`.
set(APISERVER_ROOMS_OPTIMIZED_LESS
  options program explorer generator testing.server testing.storage delegation server.debug groups aggregator storage.kms
  client.cpprest cpprest apiextensions controlplane openapi discovery client controller admission)

# Rooms whose code runs for every request, where g++ inlines as if each source were compiled alone.
# That takes a quarter of the time which a room takes to compile.
set(APISERVER_ROOMS_INLINED
  text base runtime meta codec patch patch.apply http auth proxy request cel audit authn authz storage
  storage.kv storage.index storage.memory storage.value storage.store storage.cacher rest registry
  response flowcontrol endpoints server storage.rocks storage.etcd)

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

# Remembers what ApiserverInstall.cmake must know of <room>.
function(apiserver_record_module room depends links)
  apiserver_component_of(${room} component)
  set_property(GLOBAL APPEND PROPERTY apiserver_rooms_${component} ${room})
  set_property(GLOBAL APPEND PROPERTY apiserver_links_${component} ${links})
  foreach(dependency IN LISTS depends)
    apiserver_component_of(${dependency} needed)
    if(NOT needed STREQUAL component)
      set_property(GLOBAL APPEND PROPERTY apiserver_needs_${component} ${needed})
    endif()
  endforeach()
  if(APISERVER_INSTALL)
    apiserver_package_of(${component} package)
    install(TARGETS apiserver_${room} EXPORT apiserver-${component}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${package})
  endif()
endfunction()

function(apiserver_module room)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;ALONE;DEPENDS;LINKS;APIS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "room '${room}': what is '${ARG_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT room IN_LIST APISERVER_ROOMS AND NOT room IN_LIST APISERVER_LEAVES)
    message(FATAL_ERROR "room '${room}' has no place in cmake/ApiserverRooms.cmake")
  endif()
  foreach(dependency IN LISTS ARG_DEPENDS)
    apiserver_check_dependency(${room} ${dependency})
  endforeach()
  apiserver_third_party(${ARG_LINKS})

  list(LENGTH ARG_SOURCES count)
  math(EXPR parts "(${count} + 15) / 16")
  math(EXPR part "(${count} + ${parts} - 1) / ${parts}")
  add_library(apiserver_${room} STATIC ${ARG_SOURCES} ${ARG_ALONE})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(apiserver::${room} ALIAS apiserver_${room})
  set_target_properties(apiserver_${room} PROPERTIES
    EXPORT_NAME ${room}
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    UNITY_BUILD ${APISERVER_UNITY}
    UNITY_BUILD_BATCH_SIZE ${part})
  target_compile_features(apiserver_${room} PUBLIC cxx_std_20)
  target_include_directories(apiserver_${room}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  list(TRANSFORM ARG_DEPENDS PREPEND apiserver:: OUTPUT_VARIABLE targets)
  target_link_libraries(apiserver_${room}
    PUBLIC ${targets}
    PRIVATE ${ARG_LINKS} $<BUILD_INTERFACE:apiserver_warnings>)
  foreach(api IN LISTS ARG_APIS)
    target_link_libraries(apiserver_${room} PRIVATE $<BUILD_INTERFACE:${api}>)
  endforeach()
  set(precompiled rooms)
  if(APISERVER_SANITIZE AND NOT room IN_LIST APISERVER_ROOMS_SANITIZED_OPTIMIZED)
    set(precompiled rooms_plain)
    # A third of the rest is checks that each access to memory is aligned and through no null pointer;
    # the latter AddressSanitizer sees as well.
    target_compile_options(apiserver_${room} PRIVATE -O0 -fno-sanitize=alignment,null,vptr)
  elseif(NOT APISERVER_SANITIZE AND room IN_LIST APISERVER_ROOMS_OPTIMIZED_LESS)
    set(precompiled rooms_optimized_less)
    # g++ 14 sees less then, and warns of a std::optional's text that it takes for one without a value.
    target_compile_options(apiserver_${room} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  if(APISERVER_FUZZ AND room IN_LIST APISERVER_ROOMS_FUZZED)
    # clang wants its precompiled headers to count as well.
    string(APPEND precompiled _fuzzed)
    target_compile_options(apiserver_${room} PRIVATE ${APISERVER_COVERAGE})
  endif()
  if(NOT APISERVER_SANITIZE AND room IN_LIST APISERVER_ROOMS_INLINED)
    # g++ inlines less in a source of more than 10,000 instructions, as those of a unity build are. The
    # precompiled header brings its own value, so that it must have the same.
    set(precompiled rooms_inlined)
    target_compile_options(apiserver_${room} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:--param=large-unit-insns=100000>)
  endif()
  apiserver_precompile(apiserver_${room} ${precompiled} ${APISERVER_STANDARD_HEADERS})
  apiserver_record_module(${room} "${ARG_DEPENDS}" "${ARG_LINKS}")
endfunction()

# apiserver::<component>: all rooms of the component in one target. A component that has a room of its
# own name is that room, which links the others. Called once every room is known.
function(apiserver_component_target component)
  get_property(rooms GLOBAL PROPERTY apiserver_rooms_${component})
  if(NOT rooms OR TARGET apiserver::${component})
    return()
  endif()
  add_library(apiserver_${component} INTERFACE)
  add_library(apiserver::${component} ALIAS apiserver_${component})
  set_target_properties(apiserver_${component} PROPERTIES EXPORT_NAME ${component})
  list(TRANSFORM rooms PREPEND apiserver::)
  target_link_libraries(apiserver_${component} INTERFACE ${rooms})
  if(APISERVER_INSTALL)
    install(TARGETS apiserver_${component} EXPORT apiserver-${component})
  endif()
endfunction()

# apiserver::apiserver, another name of apiserver::core. Called once every room is known.
function(apiserver_umbrella)
  add_library(apiserver_apiserver INTERFACE)
  add_library(apiserver::apiserver ALIAS apiserver_apiserver)
  set_target_properties(apiserver_apiserver PROPERTIES EXPORT_NAME apiserver)
  target_link_libraries(apiserver_apiserver INTERFACE apiserver::core)
  if(APISERVER_INSTALL)
    install(TARGETS apiserver_apiserver EXPORT apiserver-core)
  endif()
endfunction()
