#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "apiserver/codec/yaml.h"

#include "codec/yaml_scalar.h"
#include "text/base64.h"
#include "text/utf8.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;
using Kind = YamlScalar::Kind;

// libyaml's emitter, of which go-yaml's is a port: the same widths, folds and quotes.
class Emitter {
 public:
  explicit Emitter(std::string& out) {
    valid_ = yaml_emitter_initialize(&emitter_) != 0;
    if (!valid_) return;
    yaml_emitter_set_output(&emitter_, Append, &out);
    // As go-yaml: characters beyond ASCII are written as they are.
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  ~Emitter() {
    if (valid_) yaml_emitter_delete(&emitter_);
  }

  void StartDocument() {
    yaml_event_t event;
    if (yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) != 0) Emit(event);
    if (yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1) != 0) {
      Emit(event);
    }
  }
  void EndDocument() {
    yaml_event_t event;
    if (yaml_document_end_event_initialize(&event, 1) != 0) Emit(event);
    if (yaml_stream_end_event_initialize(&event) != 0) Emit(event);
  }
  void Start(bool map) {
    yaml_event_t event;
    const int made = map ? yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                                               YAML_BLOCK_MAPPING_STYLE)
                         : yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                                                YAML_BLOCK_SEQUENCE_STYLE);
    if (made != 0) Emit(event);
  }
  void End(bool map) {
    yaml_event_t event;
    const int made = map ? yaml_mapping_end_event_initialize(&event)
                         : yaml_sequence_end_event_initialize(&event);
    if (made != 0) Emit(event);
  }
  void Scalar(std::string_view text, yaml_scalar_style_t style) {
    // libyaml wants a pointer even for an empty text.
    if (text.data() == nullptr) text = "";
    yaml_event_t event;
    const int made = yaml_scalar_event_initialize(&event, nullptr, nullptr,
                                                  reinterpret_cast<const yaml_char_t*>(text.data()),
                                                  static_cast<int>(text.size()), 1, 1, style);
    if (made != 0) Emit(event);
  }

 private:
  static int Append(void* out, unsigned char* bytes, std::size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }
  void Emit(yaml_event_t& event) {
    if (valid_) {
      (void)yaml_emitter_emit(&emitter_, &event);  // Frees the event; fails without memory only.
    } else {
      yaml_event_delete(&event);
    }
  }

  yaml_emitter_t emitter_{};
  bool valid_ = false;
};

void EmitText(std::string_view text, Arena& arena, Emitter& emitter) {
  if (!text::ValidUtf8(text)) text = arena.Copy(text::ReplaceInvalidUtf8(text));
  yaml_scalar_style_t style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  if (text.find('\n') != std::string_view::npos) {
    style = YAML_LITERAL_SCALAR_STYLE;
  } else {
    const Kind kind = ResolveYamlScalar(text).kind;
    // "<<" merges only as a key that was parsed; go-yaml does not quote it.
    const bool text_kind = kind == Kind::kString || kind == Kind::kMerge;
    if (text_kind && !IsBase60Number(text)) style = YAML_PLAIN_SCALAR_STYLE;
  }
  emitter.Scalar(text, style);
}

// Formats a float as Go reads it back from JSON: a whole number that fits becomes an integer.
std::string FloatText(double number) {
  constexpr double kInt64Limit = 9223372036854775808.0;
  constexpr double kUint64Limit = 2 * kInt64Limit;
  if (std::trunc(number) == number && number >= -kInt64Limit && number < kUint64Limit) {
    std::string json;
    AppendJson(Value::Double(number), json);
    return json == "-0" ? "0" : json;
  }
  return FormatYamlFloat(number);
}

void EmitScalar(const Value& value, Arena& arena, Emitter& emitter) {
  std::string text;
  switch (value.type()) {
    case Value::Type::kBool:
      return emitter.Scalar(value.AsBool() ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
    case Value::Type::kInt:
      return emitter.Scalar(std::to_string(value.AsInt()), YAML_PLAIN_SCALAR_STYLE);
    case Value::Type::kDouble:
      return emitter.Scalar(FloatText(value.AsDouble()), YAML_PLAIN_SCALAR_STYLE);
    case Value::Type::kString:
      return EmitText(value.AsString(), arena, emitter);
    case Value::Type::kBytes:
      text::AppendBase64(value.AsString(), text);
      return EmitText(text, arena, emitter);
    default:
      return emitter.Scalar("null", YAML_PLAIN_SCALAR_STYLE);
  }
}

struct YamlFrame {
  bool map;
  std::vector<Member> members;
  std::vector<Value> items;
  std::size_t next = 0;
};

YamlFrame Open(const Value& value) {
  YamlFrame frame{value.is_map(),
                  {value.members().begin(), value.members().end()},
                  {value.items().begin(), value.items().end()}};
  std::sort(frame.members.begin(), frame.members.end(),
            [](const Member& a, const Member& b) { return YamlKeyLess(a.key, b.key); });
  return frame;
}

void Emit(Value value, Emitter& emitter) {
  Arena arena;
  std::vector<YamlFrame> frames;
  for (;;) {
    if (value.type() == Value::Type::kRaw) {
      const Result<Value> parsed = ParseJson(value.AsString(), arena);
      value = parsed.ok() ? *parsed : Value();
    }
    if (value.is_map() || value.is_list()) {
      emitter.Start(value.is_map());
      frames.push_back(Open(value));
    } else {
      EmitScalar(value, arena, emitter);
    }
    while (!frames.empty() &&
           frames.back().next >= frames.back().members.size() + frames.back().items.size()) {
      emitter.End(frames.back().map);
      frames.pop_back();
    }
    if (frames.empty()) return;
    YamlFrame& frame = frames.back();
    if (frame.map) {
      EmitText(frame.members[frame.next].key, arena, emitter);
      value = frame.members[frame.next++].value;
    } else {
      value = frame.items[frame.next++];
    }
  }
}

}  // namespace

void AppendYaml(Value value, std::string& out) {
  std::string document;
  Emitter emitter(document);
  emitter.StartDocument();
  Emit(value, emitter);
  emitter.EndDocument();
  // libyaml ends a document whose last text keeps its line breaks; go-yaml does not.
  std::string_view text = document;
  if (text.ends_with("\n...\n")) text.remove_suffix(4);
  out += text;
}

}  // namespace apiserver::v0::codec
