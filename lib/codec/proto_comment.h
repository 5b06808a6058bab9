#pragma once

#include <string>
#include <string_view>
#include <vector>

// The documentation and markers in the comment of a message or field.
namespace apiserver::inline v0::codec {

// A line `+name` or `+name=value`.
struct Marker {
  std::string name;
  std::string value;  // Without the quotes of "…" and `…`.
  std::string raw;    // As it is written.
};

struct ProtoComment {
  std::string description;
  std::vector<Marker> markers;

  bool Has(std::string_view name) const;
};

// `text` is a comment without its `//`.
ProtoComment ParseProtoComment(std::string_view text);

}  // namespace apiserver::inline v0::codec
