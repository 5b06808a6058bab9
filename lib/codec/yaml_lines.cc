#include <yaml.h>

#include <utility>

#include "codec/config_reader.h"

namespace apiserver::v0::codec {

namespace {

// Follows the events of one document and remembers the line of the longest part of a path that it
// has seen.
class YamlLineFinder {
 public:
  explicit YamlLineFinder(std::string_view path) : path_(path) {}

  void Take(const yaml_event_t& event) {
    const std::size_t line = event.start_mark.line + 1;
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        Scalar(std::string(reinterpret_cast<const char*>(event.data.scalar.value),
                           event.data.scalar.length),
               line);
        break;
      case YAML_ALIAS_EVENT:
        (void)Begin(line);
        break;
      case YAML_SEQUENCE_START_EVENT:
        open_.push_back({.path = Begin(line), .map = false});
        break;
      case YAML_MAPPING_START_EVENT:
        open_.push_back({.path = Begin(line), .map = true});
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        if (!open_.empty()) open_.pop_back();
        break;
      default:
        break;
    }
  }

  std::size_t line() const { return line_; }

 private:
  struct Open {
    std::string path;
    bool map;
    bool has_key = false;
    std::string key = {};
    std::size_t key_line = 0;
    std::size_t index = 0;
  };

  void Scalar(std::string text, std::size_t line) {
    if (!open_.empty() && open_.back().map && !open_.back().has_key) {
      open_.back().has_key = true;
      open_.back().key = std::move(text);
      open_.back().key_line = line;
      return;
    }
    (void)Begin(line);
  }

  // A value begins; returns its path. A member's line is that of its key.
  std::string Begin(std::size_t line) {
    std::string path;
    if (!open_.empty()) {
      Open& in = open_.back();
      if (in.map) {
        path = in.path.empty() ? in.key : in.path + "." + in.key;
        line = in.key_line;
        in.has_key = false;
      } else {
        path = in.path + "[" + std::to_string(in.index++) + "]";
      }
    }
    if (Covers(path) && (line_ == 0 || path.size() > longest_)) {
      longest_ = path.size();
      line_ = line;
    }
    return path;
  }

  // True if `path` is the wanted one or contains it.
  bool Covers(const std::string& path) const {
    if (!path_.starts_with(path)) return false;
    return path.empty() || path.size() == path_.size() || path_[path.size()] == '.' ||
           path_[path.size()] == '[';
  }

  std::string_view path_;
  std::vector<Open> open_;
  std::size_t longest_ = 0;
  std::size_t line_ = 0;
};

}  // namespace

std::size_t YamlLineOf(std::string_view text, std::string_view path) {
  YamlLineFinder finder(path);
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return 0;
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  for (bool more = true; more;) {
    yaml_event_t event;
    // The text behind an error is not needed: the line found so far is given.
    if (yaml_parser_parse(&parser, &event) == 0) break;
    more = event.type != YAML_STREAM_END_EVENT && event.type != YAML_DOCUMENT_END_EVENT;
    finder.Take(event);
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return finder.line();
}

}  // namespace apiserver::v0::codec
