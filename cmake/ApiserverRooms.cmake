# The architecture: every room, bottom first. An include or a link may point only to an earlier room;
# only programs may link a leaf. docs/rooms.py draws this list, a floor for each comment in it.
set(APISERVER_ROOMS
  # Vocabulary.
  text base runtime meta codec patch patch.apply
  # Transport and interfaces.
  http auth proxy request client controller openapi
  # Policy.
  cel audit authn authz
  # Storage and resources.
  storage storage.kv storage.index storage.memory storage.value storage.store storage.cacher
  rest admission registry
  # Serving.
  response flowcontrol discovery endpoints server.debug server delegation options
  # Built-in API groups.
  groups
  # Whole servers.
  apiextensions aggregator controlplane)

# Leaves, linked by programs: no room may depend on one. A leaf may use every room and the leaves before it.
set(APISERVER_LEAVES
  storage.rocks storage.etcd storage.kms client.cpprest cpprest explorer testing.storage testing.server
  program.signals program generator)

# The components of the CMake package beside `core`, which is every room not named here.
set(APISERVER_COMPONENTS core controlplane rocks etcd http-client explorer testing signals program generator)
set(APISERVER_COMPONENT_controlplane groups apiextensions aggregator controlplane)
set(APISERVER_COMPONENT_rocks storage.rocks)
set(APISERVER_COMPONENT_etcd storage.etcd storage.kms)
set(APISERVER_COMPONENT_http-client client.cpprest cpprest)
set(APISERVER_COMPONENT_explorer explorer)
set(APISERVER_COMPONENT_testing testing.storage testing.server)
set(APISERVER_COMPONENT_signals program.signals)
set(APISERVER_COMPONENT_program program)
set(APISERVER_COMPONENT_generator generator)

# A line of at most fifty characters about each, for package managers.
set(APISERVER_ABOUT_core "server, client, controllers, storage in memory")
set(APISERVER_ABOUT_controlplane "built-in groups, CRDs, aggregator")
set(APISERVER_ABOUT_rocks "storage on RocksDB")
set(APISERVER_ABOUT_etcd "storage on etcd, encryption by KMS plugins")
set(APISERVER_ABOUT_http-client "calls out and a listener by cpprestsdk")
set(APISERVER_ABOUT_explorer "a web page about whatever a server serves")
set(APISERVER_ABOUT_testing "servers in unit tests, suites for storages")
set(APISERVER_ABOUT_signals "ends a program by SIGINT and SIGTERM")
set(APISERVER_ABOUT_program "programs with flags, doctor, every storage")
set(APISERVER_ABOUT_generator "structs for CRDs, apiserver-gen")

# The Debian package of each component is libapiserver-dev, but for those that bring libraries of others
# or programs with them: libapiserver-<component>-dev, and apiserver-gen.
set(APISERVER_PACKAGED_APART rocks etcd http-client program generator)

# Sets <out> to the Debian package that <component> is in, which is also the name of what CMake installs
# with --component.
function(apiserver_package_of component out)
  set(${out} libapiserver-dev PARENT_SCOPE)
  if(component STREQUAL generator)
    set(${out} apiserver-gen PARENT_SCOPE)
  elseif(component IN_LIST APISERVER_PACKAGED_APART)
    set(${out} libapiserver-${component}-dev PARENT_SCOPE)
  endif()
endfunction()

# Sets <out> to the component that <room> is installed with.
function(apiserver_component_of room out)
  set(${out} core PARENT_SCOPE)
  foreach(component IN LISTS APISERVER_COMPONENTS)
    if(room IN_LIST APISERVER_COMPONENT_${component})
      set(${out} ${component} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
