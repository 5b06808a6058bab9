#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"
#include "openapi/gnostic.h"

namespace apiserver::v0::openapi {

namespace {

// The most that is copied of the base at once.
constexpr std::size_t kSliceBytes = std::size_t{64} << 10;

std::string ObjectOf(const std::map<std::string, std::string>& members) {
  std::string json = "{";
  for (const auto& [name, value] : members) {
    if (json.back() != '{') json += ',';
    codec::AppendJsonString(name, json);
    json += ":" + value;
  }
  return json + "}";
}

// Appends a part of a document in protobuf. Readers of protobuf merge a message that comes in
// parts.
void AppendGnostic(const std::string& json, std::string& out) {
  runtime::Arena arena;
  // A fragment whose JSON is broken is left out rather than the rest of the document.
  if (const auto parsed = codec::ParseJson(json, arena); parsed.ok()) out += GnosticV2(*parsed);
}

}  // namespace

bool V2Writer::Append(std::string& out) {
  if (rest_.empty()) {
    const std::size_t fragments = fragments_->size();
    const std::size_t pieces = protobuf_ ? fragments + 2 : 2 * fragments + 3;
    if (piece_ == pieces) return false;
    protobuf_ ? AppendProtobuf(piece_, out) : AppendJson(piece_, out);
    ++piece_;
  }
  const std::string_view slice = rest_.substr(0, kSliceBytes);
  out += slice;
  rest_.remove_prefix(slice.size());
  return true;
}

// The base; each fragment; the parameters.
void V2Writer::AppendProtobuf(std::size_t piece, std::string& out) {
  if (piece == 0) {
    rest_ = base_->document.protobuf;
    return;
  }
  if (piece > fragments_->size()) {
    if (!parameters_.empty()) AppendGnostic("{\"parameters\":" + ObjectOf(parameters_) + "}", out);
    return;
  }
  const Fragment& fragment = *(*fragments_)[piece - 1];
  std::string json = "{\"paths\":{";
  fragment.AppendPaths(Format::kV2, json, parameters_);
  json += "},\"definitions\":{";
  fragment.AppendDefinitions(Format::kV2, json);
  AppendGnostic(json + "}}", out);
}

// The base's paths; each fragment's; the base's definitions; each fragment's; the rest.
void V2Writer::AppendJson(std::size_t piece, std::string& out) {
  const std::string_view json = base_->document.json;
  const std::size_t fragments = fragments_->size();
  if (piece == 0) {
    rest_ = json.substr(0, base_->paths_end);
    separate_ = rest_.back() != '{';
  } else if (piece == fragments + 1) {
    rest_ = json.substr(base_->paths_end, base_->definitions_end - base_->paths_end);
    separate_ = rest_.back() != '{';
  } else if (piece == 2 * fragments + 2) {
    rest_ = json.substr(base_->definitions_end);
    if (parameters_.empty()) return;
    // They stand behind the definitions, whose end is the first character of the rest.
    out += "},\"parameters\":" + ObjectOf(parameters_);
    rest_.remove_prefix(1);
  } else {
    AppendFragment(piece, out);
  }
}

void V2Writer::AppendFragment(std::size_t piece, std::string& out) {
  const std::size_t fragments = fragments_->size();
  const Fragment& fragment = *(*fragments_)[(piece - 1) % (fragments + 1)];
  const std::size_t before = out.size();
  if (separate_) out += ',';
  const std::size_t begin = out.size();
  if (piece <= fragments) {
    fragment.AppendPaths(Format::kV2, out, parameters_);
  } else {
    fragment.AppendDefinitions(Format::kV2, out);
  }
  if (out.size() > begin) {
    separate_ = true;
  } else {
    out.resize(before);
  }
}

}  // namespace apiserver::v0::openapi
