#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/yaml.h"

#include "base/status_macros.h"
#include "codec/yaml_scalar.h"
#include "text/base64.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;
using Kind = YamlScalar::Kind;

constexpr std::size_t kYamlDuplicatesMax = 100;
// Maps up to this size are searched, larger ones get an index.
constexpr std::size_t kLinearMax = 16;

Status BadYaml(std::string message) {
  return Status(Reason::kBadRequest, "yaml: " + std::move(message));
}

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }
  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

class Parser {
 public:
  explicit Parser(std::string_view text) {
    valid_ = yaml_parser_initialize(&parser_) != 0;
    if (valid_) {
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
    }
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() {
    if (valid_) yaml_parser_delete(&parser_);
  }

  Status Next(Event& event) {
    if (valid_ && yaml_parser_parse(&parser_, event.get()) != 0) return {};
    return Failure();
  }

 private:
  // As yaml.v2's parser.fail.
  Status Failure() const {
    std::size_t line = 0;
    if (parser_.problem_mark.line != 0) {
      line = parser_.problem_mark.line + (parser_.error == YAML_SCANNER_ERROR ? 1 : 0);
    } else {
      line = parser_.context_mark.line;
    }
    std::string where = line == 0 ? "" : "line " + std::to_string(line) + ": ";
    return BadYaml(where + (parser_.problem != nullptr ? parser_.problem
                                                       : "unknown problem parsing YAML content"));
  }

  yaml_parser_t parser_{};
  bool valid_ = false;
};

std::string_view TextOf(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

// A finished node with the size of its text: aliases share the node, JSON repeats it.
struct Node {
  Value value = {};
  double nodes = 1;
  double bytes = 0;
  std::string key_repr = "";  // Go's %#v, for messages about keys.
  bool merge = false;         // The key <<.
};

// Builds one document from events. Nothing recurses.
class YamlBuilder {
 public:
  YamlBuilder(Arena& arena, std::size_t text_bytes, const JsonLimits& limits)
      : arena_(arena),
        depth_max_(limits.depth_max),
        bytes_max_(static_cast<double>(text_bytes * limits.arena_factor_max + (64 << 10))) {}

  // Takes the next event of the document; sets `done` when its root is complete.
  Status Take(const Event& event, bool* done) {
    switch (event->type) {
      case YAML_SCALAR_EVENT:
        return TakeScalar(event, done);
      case YAML_ALIAS_EVENT:
        return TakeAlias(event, done);
      case YAML_SEQUENCE_START_EVENT:
        return Open(event->data.sequence_start.anchor, false, event->start_mark.line);
      case YAML_MAPPING_START_EVENT:
        return Open(event->data.mapping_start.anchor, true, event->start_mark.line);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return Close(done);
      default:
        return {};
    }
  }

  Value root() const { return root_; }
  std::vector<std::string>& duplicates() { return duplicates_; }
  // The first fault of the content. Go parses the document to its end before it reports one.
  const Status& misfit() const { return misfit_; }

 private:
  struct Frame {
    bool map;
    std::string anchor;
    std::size_t line;
    std::vector<Member> members = {};
    std::vector<Value> items = {};
    std::unordered_map<std::string_view, std::size_t> index = {};
    bool has_key = false;
    Node key = {};
    double nodes = 1;
    double bytes = 2;
  };

  void Misfit(Status status) {
    if (misfit_.ok()) misfit_ = std::move(status);
  }

  Status TakeScalar(const Event& event, bool* done) {
    const auto& scalar = event->data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    Node node = ScalarNode(event, arena_.Copy(text));
    const std::string_view anchor = TextOf(scalar.anchor);
    if (!anchor.empty()) anchors_[std::string(anchor)] = {node, true};
    decoded_ += 1;
    return Put(std::move(node), event->start_mark.line, done);
  }

  Node ScalarNode(const Event& event, std::string_view text) {
    const auto& scalar = event->data.scalar;
    std::string_view tag = TextOf(scalar.tag);
    constexpr std::string_view kLongPrefix = "tag:yaml.org,2002:";
    if (tag.starts_with(kLongPrefix)) tag.remove_prefix(kLongPrefix.size());
    Node node{.value = Value::String(text), .bytes = static_cast<double>(text.size())};
    node.key_repr = field::Quote(text);
    if (tag.empty() && scalar.plain_implicit == 0) return node;
    if (tag == "binary") {
      const std::optional<std::string> bytes = text::DecodeBase64(text);
      if (!bytes) Misfit(BadYaml("!!binary value contains invalid base64 data"));
      if (bytes) node.value = Value::String(arena_.Copy(*bytes));
      return node;
    }
    const bool known = tag == "bool" || tag == "int" || tag == "float" || tag == "null" ||
                       tag == "merge" || tag == "timestamp";
    if (!tag.empty() && !known) return node;
    YamlScalar scalar_value = ResolveYamlScalar(text);
    if (!tag.empty()) Misfit(CheckTag(scalar_value, tag, text));
    node.merge = scalar_value.kind == Kind::kMerge;
    SetValue(scalar_value, node);
    return node;
  }

  static Status CheckTag(const YamlScalar& scalar, std::string_view tag, std::string_view text) {
    constexpr std::string_view kTags[] = {"null",  "bool",      "int",   "int",
                                          "float", "timestamp", "merge", "str"};
    const std::string_view actual = kTags[static_cast<std::size_t>(scalar.kind)];
    if (actual == tag || (tag == "float" && actual == "int")) return {};
    return BadYaml("cannot decode !!" + std::string(actual) + " `" + std::string(text) +
                   "` as a !!" + std::string(tag));
  }

  static void SetValue(const YamlScalar& scalar, Node& node) {
    switch (scalar.kind) {
      case Kind::kNull:
        node.value = Value();
        node.key_repr = "interface {}(nil)";
        return;
      case Kind::kBool:
        node.value = scalar.value;
        node.key_repr = scalar.value.AsBool() ? "true" : "false";
        return;
      case Kind::kInt:
        node.value = scalar.value;
        node.key_repr = std::to_string(scalar.value.AsInt());
        return;
      case Kind::kUint:
      case Kind::kFloat:
        node.value = FromFloat(scalar.value.AsDouble());
        node.key_repr = FormatYamlFloat(scalar.value.AsDouble());
        return;
      default:
        return;
    }
  }

  // Converts as JSON does, which has no difference between 1.0 and 1.
  static Value FromFloat(double number) {
    constexpr double kInt64Limit = 9223372036854775808.0;
    const bool whole = std::trunc(number) == number && std::abs(number) < kInt64Limit;
    return whole ? Value::Int(static_cast<std::int64_t>(number)) : Value::Double(number);
  }

  // Refuses NaN and infinity: Go fails when it writes the JSON in between.
  void CheckFinite(const Value& value) {
    const double number = value.AsDouble();
    if (value.type() != Value::Type::kDouble || std::isfinite(number)) return;
    Misfit(Status(Reason::kBadRequest,
                  "json: unsupported value: " + std::string(std::isnan(number) ? "NaN"
                                                            : number > 0       ? "+Inf"
                                                                               : "-Inf")));
  }

  Status TakeAlias(const Event& event, bool* done) {
    const std::string name(TextOf(event->data.alias.anchor));
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) return BadYaml("unknown anchor '" + name + "' referenced");
    if (!found->second.complete) Misfit(BadYaml("anchor '" + name + "' value contains itself"));
    Node node = found->second.node;
    decoded_ += 1 + node.nodes;
    aliased_ += node.nodes;
    bytes_ += node.bytes;
    if (ExcessiveAliasing()) return BadYaml("document contains excessive aliasing");
    node.nodes += 1;
    node.merge = false;
    return Put(std::move(node), event->start_mark.line, done);
  }

  // Counts nodes as yaml.v2 does, and text, which yaml.v2 shares but JSON repeats.
  bool ExcessiveAliasing() const {
    if (bytes_ > bytes_max_) return true;
    constexpr double kLow = 400'000;
    constexpr double kHigh = 4'000'000;
    double ratio = 0.99;
    if (decoded_ >= kHigh) {
      ratio = 0.10;
    } else if (decoded_ > kLow) {
      ratio = 0.99 - 0.89 * (decoded_ - kLow) / (kHigh - kLow);
    }
    return aliased_ > 100 && decoded_ > 1000 && aliased_ / decoded_ > ratio;
  }

  Status Open(const yaml_char_t* anchor, bool map, std::size_t line) {
    if (frames_.size() >= depth_max_) {
      return BadYaml("exceeded max depth of " + std::to_string(depth_max_));
    }
    Frame frame{.map = map, .anchor = std::string(TextOf(anchor)), .line = line};
    if (!frame.anchor.empty()) anchors_[frame.anchor] = {{}, false};
    decoded_ += 1;
    frames_.push_back(std::move(frame));
    return {};
  }

  Status Close(bool* done) {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    Node node;
    node.nodes = frame.nodes;
    node.bytes = frame.bytes;
    if (frame.map) {
      runtime::MapBuilder map(arena_);
      for (const Member& member : frame.members) map.Add(member.key, member.value);
      node.value = map.Build();
    } else {
      runtime::ListBuilder list(arena_);
      for (const Value& item : frame.items) list.Add(item);
      node.value = list.Build();
    }
    // A newer anchor of the same name may have been set within the node.
    const auto anchored = anchors_.find(frame.anchor);
    if (anchored != anchors_.end() && !anchored->second.complete) anchored->second = {node, true};
    return Put(std::move(node), frame.line, done);
  }

  // Adds a finished node to the container around it.
  Status Put(Node node, std::size_t line, bool* done) {
    if (frames_.empty()) {
      CheckFinite(node.value);
      root_ = node.value;
      *done = true;
      return {};
    }
    Frame& frame = frames_.back();
    frame.nodes += node.nodes;
    frame.bytes += node.bytes + 1;
    if (!frame.map) {
      CheckFinite(node.value);
      frame.items.push_back(node.value);
      return {};
    }
    if (!frame.has_key) {
      frame.has_key = true;
      frame.key = std::move(node);
      return {};
    }
    frame.has_key = false;
    CheckFinite(node.value);
    if (frame.key.merge) {
      Merge(frame, node.value, line);
    } else {
      Set(frame, {KeyText(frame.key), node.value}, frame.key.key_repr, line);
    }
    return {};
  }

  std::string_view KeyText(const Node& key) {
    switch (key.value.type()) {
      case Value::Type::kString:
        return key.value.AsString();
      case Value::Type::kBool:
        return key.value.AsBool() ? "true" : "false";
      case Value::Type::kInt:
        return arena_.Copy(std::to_string(key.value.AsInt()));
      case Value::Type::kDouble:
        return arena_.Copy(FormatYamlFloat(key.value.AsDouble(), 32));
      case Value::Type::kNull:
        Misfit({Reason::kBadRequest, "unsupported map key of type: %!s(<nil>), key: <nil>"});
        return "";
      default:
        Misfit(BadYaml("invalid map key: " + std::string(key.value.is_map()
                                                             ? "map[interface {}]interface {}"
                                                             : "[]interface {}")));
        return "";
    }
  }

  // Sets a member. The last of equal keys counts, at the position of the first.
  void Set(Frame& frame, Member member, const std::string& repr, std::size_t line) {
    std::size_t at = frame.members.size();
    if (frame.members.size() <= kLinearMax) {
      const auto found = std::find_if(frame.members.begin(), frame.members.end(),
                                      [&](const Member& old) { return old.key == member.key; });
      at = static_cast<std::size_t>(found - frame.members.begin());
    } else {
      if (frame.index.empty()) {
        for (std::size_t i = 0; i < frame.members.size(); ++i) {
          frame.index[frame.members[i].key] = i;
        }
      }
      at = frame.index.try_emplace(member.key, at).first->second;
    }
    if (at == frame.members.size()) {
      frame.members.push_back(member);
      return;
    }
    frame.members[at].value = member.value;
    if (duplicates_.size() >= kYamlDuplicatesMax) return;
    duplicates_.push_back("line " + std::to_string(line + 1) + ": key " + field::Shorten(repr) +
                          " already set in map");
  }

  void Merge(Frame& frame, const Value& from, std::size_t line) {
    std::vector<Value> maps(from.items().begin(), from.items().end());
    // Backwards, because earlier maps take precedence.
    std::reverse(maps.begin(), maps.end());
    if (!from.is_list()) maps.push_back(from);
    for (const Value& map : maps) {
      if (!map.is_map()) {
        Misfit(BadYaml("map merge requires map or sequence of maps as the value"));
        return;
      }
      for (const Member& member : map.members()) {
        Set(frame, member, field::Quote(member.key), line);
      }
    }
  }

  struct Anchor {
    Node node;
    bool complete = false;
  };

  Arena& arena_;
  const std::size_t depth_max_;
  const double bytes_max_;
  std::vector<Frame> frames_;
  std::map<std::string, Anchor> anchors_;
  Value root_;
  std::vector<std::string> duplicates_;
  Status misfit_;
  double decoded_ = 0;
  double aliased_ = 0;
  double bytes_ = 0;
};

bool IsBlank(std::string_view document) {
  while (!document.empty()) {
    const std::size_t end = document.find('\n');
    std::string_view line = document.substr(0, end);
    document = end == std::string_view::npos ? "" : document.substr(end + 1);
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#') return false;
  }
  return true;
}

}  // namespace

Result<Value> ParseYaml(std::string_view text, Arena& arena, std::vector<std::string>* duplicates,
                        const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) return BadYaml("the document is too large");
  Parser parser(text);
  YamlBuilder builder(arena, text.size(), limits);
  const std::size_t arena_max =
      arena.bytes_reserved() + text.size() * limits.arena_factor_max + (64 << 10);
  for (bool done = false; !done;) {
    Event event;
    RETURN_IF_ERROR(parser.Next(event));
    if (event->type == YAML_STREAM_END_EVENT) return Value();
    RETURN_IF_ERROR(builder.Take(event, &done));
    if (arena.bytes_reserved() > arena_max) return BadYaml("the document needs too much memory");
  }
  // Reads the event that ends the document: Go does not look further.
  Event end;
  RETURN_IF_ERROR(parser.Next(end));
  RETURN_IF_ERROR(builder.misfit());
  if (duplicates != nullptr) {
    for (std::string& line : builder.duplicates()) duplicates->push_back(std::move(line));
  }
  return builder.root();
}

std::vector<std::string_view> SplitYamlDocuments(std::string_view text) {
  std::vector<std::string_view> documents;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view document = text.substr(begin, end - begin);
    if (!IsBlank(document)) documents.push_back(document);
  };
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t newline = text.find('\n', line);
    const std::size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    if (text.substr(line, 3) == "---") {
      add(line);
      begin = next;
    }
    line = next;
  }
  add(text.size());
  return documents;
}

}  // namespace apiserver::v0::codec
