# cmake -D name=NAME -D bytes=FILE -D source=FILE -D header=FILE -P ApiserverEmbed.cmake: writes the
# source and the header of apiserver_add_api().
file(READ ${bytes} content HEX)
string(LENGTH "${content}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "\\\\x\\1" content "${content}")
# Thirty bytes a line: an editor may want to open it.
string(REPEAT "...." 30 line)
string(REGEX REPLACE "(${line})" "\\1\"\n    \"" content "${content}")

file(WRITE ${header}.new
"// Made by apiserver_add_api(${name}).
#pragma once

#include <string_view>

namespace ${name} {

// A serialized google.protobuf.FileDescriptorSet, for apiserver::codec::ProtoSchemas::Load.
std::string_view Descriptors();

}  // namespace ${name}
")
file(COPY_FILE ${header}.new ${header} ONLY_IF_DIFFERENT)
file(REMOVE ${header}.new)
file(TOUCH ${header})
file(WRITE ${source}
"// Made by apiserver_add_api(${name}).
#include <string_view>

namespace ${name} {

std::string_view Descriptors();
std::string_view Descriptors() {
  static constexpr char kBytes[] =
    \"${content}\";
  return {kBytes, ${size}};
}

}  // namespace ${name}
")
