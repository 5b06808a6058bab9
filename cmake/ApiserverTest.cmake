# apiserver_test(<room> SOURCES <file>... [DEPENDS <room>...] [LINKS <target>...])
#
# Adds the test binary of one room, <room>_test, and one ctest test per test case in it. Tests look
# from outside, but may include private headers of lib/ where a fact cannot be seen otherwise.
find_package(Catch2 2 REQUIRED)
include(Catch)

add_library(apiserver_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cc)
target_link_libraries(apiserver_test_main PUBLIC Catch2::Catch2 apiserver_warnings)
target_compile_features(apiserver_test_main PUBLIC cxx_std_20)

function(apiserver_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;DEPENDS;LINKS")
  add_executable(${name}_test ${ARG_SOURCES} $<TARGET_OBJECTS:apiserver_test_main>)
  target_include_directories(${name}_test PRIVATE
    ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name}_test PRIVATE
    APISERVER_TESTDATA="${PROJECT_SOURCE_DIR}/tests/testdata")
  list(TRANSFORM ARG_DEPENDS PREPEND apiserver::)
  target_link_libraries(${name}_test PRIVATE
    ${ARG_DEPENDS} ${ARG_LINKS} Catch2::Catch2 apiserver_warnings Threads::Threads)
  catch_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()
