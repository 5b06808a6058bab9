#include "response/negotiate.h"

#include <optional>
#include <string_view>

#include "apiserver/codec/negotiate.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/errors.h"
#include "codec/type_meta.h"

namespace apiserver::v0::response {

namespace {

using codec::MediaType;

// The order decides for a clause with a star.
constexpr MediaType kTypes[] = {MediaType::kJson, MediaType::kYaml, MediaType::kProtobuf,
                                MediaType::kCbor};
constexpr std::string_view kAcceptedWithCbor =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor";
constexpr std::string_view kStreamable =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
constexpr std::string_view kStreamableWithCbor =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, "
    "application/cbor-seq";

bool SpeaksCbor(const http::Exchange& exchange) { return exchange.Find<ServesCbor>() != nullptr; }

// The query comes first: it is what people type.
// Go's conversion of a query's bool, then the Accept clause, then programs that people read.
bool WantsPretty(const http::Exchange& exchange, std::string_view parameter) {
  const http::Query& query = exchange.query();
  if (query.Has("pretty")) {
    const std::string_view wish = query.Get("pretty");
    return wish == "1" || wish == "t" || wish == "T" || wish == "true" || wish == "True" ||
           wish == "TRUE";
  }
  if (!parameter.empty()) return parameter == "1" || parameter == "true";
  const std::string_view agent = exchange.request().headers.Get("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

// Returns the shape that a clause asks for. nullopt: it cannot be served here.
std::optional<Shape> ShapeOf(const codec::AcceptClause& clause, const Target* target,
                             MediaType type) {
  const std::string_view as = clause.Parameter("as");
  if (as.empty()) return Shape::kObject;
  const std::string_view version = clause.Parameter("v");
  if (!target || clause.Parameter("g") != "meta.k8s.io") return std::nullopt;
  if (version != "v1" && version != "v1beta1") return std::nullopt;
  if (as == "PartialObjectMetadata") return Shape::kPartialObjectMetadata;
  if (as == "PartialObjectMetadataList") return Shape::kPartialObjectMetadataList;
  // A Table has no protobuf form.
  if (as == "Table" && target->table && type != MediaType::kProtobuf) return Shape::kTable;
  return std::nullopt;
}

// `streamed`: one of the types is acceptable, but not for a watch.
Status NotAcceptable(const http::Exchange& exchange, bool streamed) {
  if (!streamed) return meta::NewNotAcceptable(AcceptedMediaTypes(exchange));
  return meta::NewNotAcceptable(SpeaksCbor(exchange) ? kStreamableWithCbor : kStreamable);
}

}  // namespace

std::string_view AcceptedMediaTypes(const http::Exchange& exchange) {
  return SpeaksCbor(exchange) ? kAcceptedWithCbor : codec::kAcceptedMediaTypes;
}

// Follows NegotiateMediaTypeOptions: clauses by quality, and in each the first type that fits.
Result<Negotiated> Negotiate(const http::Exchange& exchange, const Target* target, bool watch) {
  const std::string_view accept = exchange.request().headers.Get("Accept");
  // The most common forms by far need no parsing.
  if (accept.empty() || accept == "*/*" || accept == "application/json") {
    Negotiated negotiated;
    negotiated.pretty = !watch && WantsPretty(exchange, "");
    return negotiated;
  }
  const bool cbor = SpeaksCbor(exchange);
  bool unmarshalable = false;
  bool unstreamable = false;
  for (const codec::AcceptClause& clause : codec::ParseAccept(accept)) {
    for (MediaType type : kTypes) {
      if (!clause.Covers(codec::MediaTypeName(type))) continue;
      if (watch && type == MediaType::kYaml) {
        unstreamable = true;
        continue;
      }
      if (type == MediaType::kCbor && !cbor) continue;
      const std::optional<Shape> shape = ShapeOf(clause, target, type);
      if (!shape) continue;
      Negotiated negotiated{.type = type, .shape = *shape};
      if (*shape != Shape::kObject) negotiated.meta_version = clause.Parameter("v");
      negotiated.pretty =
          !watch && type == MediaType::kJson && WantsPretty(exchange, clause.Parameter("pretty"));
      // A kind without a protobuf form falls through to the next clause, so that a client which
      // lists JSON too is served.
      if (target && type == MediaType::kProtobuf && *shape == Shape::kObject &&
          !codec::HasProtobuf(*target->kind, target->version)) {
        unmarshalable = true;
        continue;
      }
      return negotiated;
    }
  }
  const bool custom =
      target != nullptr && target->kind->semantics() == runtime::Semantics::kCustomResource;
  if (!unmarshalable || custom) return NotAcceptable(exchange, unstreamable);
  return Status(Reason::kNotAcceptable, codec::NoProtobufMessage(*target->kind, target->version));
}

Status CheckAcceptable(const http::Exchange& exchange, const Target& target, bool watch) {
  return Negotiate(exchange, &target, watch).status();
}

// Follows the validation of metav1.TableOptions.
Result<meta::TableOptions> TableOptionsOf(http::Exchange& exchange) {
  meta::TableOptions options;
  const std::string_view wish = exchange.query().Get("includeObject");
  if (wish == "None") {
    options.include_object = meta::IncludeObject::kNone;
  } else if (wish == "Object") {
    options.include_object = meta::IncludeObject::kObject;
  } else if (!wish.empty() && wish != "Metadata") {
    return meta::NewBadRequest(
        "Unable to convert to Table as requested: includeObject: Invalid value: " +
        field::Quote(wish) + ": must be 'Metadata', 'Object', 'None', or empty");
  }
  return options;
}

}  // namespace apiserver::v0::response
