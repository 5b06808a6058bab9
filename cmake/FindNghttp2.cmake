# Finds libnghttp2 and defines Nghttp2::nghttp2. Debian ships no CMake package for it.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_NGHTTP2 QUIET libnghttp2)
endif()
find_path(Nghttp2_INCLUDE_DIR nghttp2/nghttp2.h HINTS ${PC_NGHTTP2_INCLUDE_DIRS})
find_library(Nghttp2_LIBRARY nghttp2 HINTS ${PC_NGHTTP2_LIBRARY_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nghttp2
  REQUIRED_VARS Nghttp2_LIBRARY Nghttp2_INCLUDE_DIR
  VERSION_VAR PC_NGHTTP2_VERSION)

if(Nghttp2_FOUND AND NOT TARGET Nghttp2::nghttp2)
  add_library(Nghttp2::nghttp2 UNKNOWN IMPORTED)
  set_target_properties(Nghttp2::nghttp2 PROPERTIES
    IMPORTED_LOCATION ${Nghttp2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Nghttp2_INCLUDE_DIR})
endif()
mark_as_advanced(Nghttp2_INCLUDE_DIR Nghttp2_LIBRARY)
