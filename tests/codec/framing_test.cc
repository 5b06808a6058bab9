#include "apiserver/codec/framing.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::codec {
namespace {

TEST_CASE("codec: lines are taken out of a stream however it is cut", "[codec]") {
  FrameReader reader(Framing::kLines);
  reader.Add("{\"a\":1}\n\n{\"b\"");
  CHECK(reader.Next().value() == "{\"a\":1}");
  CHECK(reader.Next().value() == std::nullopt);
  reader.Add(":2}\n");
  CHECK(reader.Next().value() == "{\"b\":2}");
  CHECK(reader.Next().value() == std::nullopt);
}

TEST_CASE("codec: counted frames are written and taken apart again", "[codec]") {
  std::string stream;
  AppendFrame(Framing::kLengthDelimited, "abc", stream);
  AppendFrame(Framing::kLengthDelimited, "", stream);
  CHECK(stream == std::string("\0\0\0\3abc\0\0\0\0", 11));

  FrameReader reader(Framing::kLengthDelimited);
  reader.Add(stream.substr(0, 6));
  CHECK(reader.Next().value() == std::nullopt);
  reader.Add(stream.substr(6));
  CHECK(reader.Next().value() == "abc");
  CHECK(reader.Next().value() == "");
  CHECK(reader.Next().value() == std::nullopt);
}

TEST_CASE("codec: a frame over the limit ends the stream", "[codec]") {
  FrameReader counted(Framing::kLengthDelimited, 10);
  counted.Add(std::string("\0\0\0\x0b", 4));
  CHECK(counted.Next().status().reason() == Reason::kRequestEntityTooLarge);

  FrameReader lines(Framing::kLines, 10);
  lines.Add("0123456789a");
  CHECK(lines.Next().status().reason() == Reason::kRequestEntityTooLarge);
}

}  // namespace
}  // namespace apiserver::inline v0::codec
