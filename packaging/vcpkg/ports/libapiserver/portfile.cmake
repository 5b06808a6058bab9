# An overlay port: it builds the checkout that it is in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

# The rooms of each feature, which are left out without it. cpprestsdk is no longer in vcpkg.
set(leaves_off client.cpprest cpprest)
set(rooms_of_etcd storage.etcd storage.kms)
set(rooms_of_explorer explorer)
set(rooms_of_generator generator)
set(rooms_of_program program)
set(rooms_of_rocks storage.rocks)
set(rooms_of_signals program.signals)
set(rooms_of_testing testing.storage testing.server)
foreach(feature IN ITEMS etcd explorer generator program rocks signals testing)
  if(NOT feature IN_LIST FEATURES)
    list(APPEND leaves_off ${rooms_of_${feature}})
  endif()
endforeach()

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DAPISERVER_TESTS=OFF
    -DAPISERVER_EXAMPLES=OFF
    -DAPISERVER_BENCH=OFF
    -DAPISERVER_IPSEC_MB=OFF  # vcpkg's OpenSSL is as fast.
    "-DAPISERVER_LEAVES_OFF=${leaves_off}"
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME apiserver CONFIG_PATH lib/cmake/apiserver)
vcpkg_fixup_pkgconfig()
if("generator" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES apiserver-gen AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
