# cmake -D name=NAME -D bytes=FILE -D source=FILE -D header=FILE -P ApiserverEmbed.cmake: writes the
# source and the header of apiserver_add_api().
#
# cmake -D room=ROOM -D folder=FOLDER -D files=NAME,NAME... -D source=FILE [-D compressed=ON]
#       -P ApiserverEmbed.cmake: writes the source of lib/ROOM/files.h, which holds each file as it is,
# with `compressed` its hash, too, and what gzip makes of it.

# Sets <out> to a string literal of the bytes of <hex>, and <out>_size to their number.
function(literal_of hex out)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" content "${hex}")
  # Thirty bytes a line: an editor may want to open it.
  string(REPEAT "...." 30 line)
  string(REGEX REPLACE "(${line})" "\\1\"\n    \"" content "${content}")
  set(${out} "\"${content}\"" PARENT_SCOPE)
  set(${out}_size ${size} PARENT_SCOPE)
endfunction()

if(files)
  string(REPLACE "," ";" files "${files}")
  set(constants "")
  set(rows "")
  foreach(file IN LISTS files)
    file(READ ${folder}/${file} plain HEX)
    literal_of("${plain}" plain)
    string(MAKE_C_IDENTIFIER k_${file} constant)
    string(APPEND constants "constexpr char ${constant}[] =\n    ${plain};\n")
    if(NOT compressed)
      string(APPEND rows "    {\"${file}\", {${constant}, ${plain_size}}},\n")
      continue()
    endif()
    file(SHA256 ${folder}/${file} hash)
    string(SUBSTRING ${hash} 0 16 hash)
    file(ARCHIVE_CREATE OUTPUT ${source}.gz PATHS ${folder}/${file}
      FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
    file(READ ${source}.gz packed HEX)
    # The time of compression, bytes 4 to 7, would make each build another one.
    string(SUBSTRING "${packed}" 0 8 magic)
    string(SUBSTRING "${packed}" 16 -1 packed)
    string(PREPEND packed ${magic} 00000000)
    literal_of("${packed}" packed)
    string(APPEND constants "constexpr char ${constant}_gz[] =\n    ${packed};\n")
    string(APPEND rows "    {\"${file}\", \"${hash}\", {${constant}, ${plain_size}}, "
                       "{${constant}_gz, ${packed_size}}},\n")
  endforeach()
  file(REMOVE ${source}.gz)
  file(WRITE ${source}
"// Made by cmake/ApiserverEmbed.cmake.
#include \"${room}/files.h\"

namespace apiserver::v0::${room} {

namespace {
${constants}
constexpr File kFiles[] = {
${rows}};
}  // namespace

std::span<const File> Files() { return kFiles; }

}  // namespace apiserver::v0::${room}
")
  return()
endif()

file(READ ${bytes} content HEX)
literal_of("${content}" content)

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
    ${content};
  return {kBytes, ${content_size}};
}

}  // namespace ${name}
")
