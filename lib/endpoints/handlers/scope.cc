#include "endpoints/handlers/scope.h"

#include <algorithm>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"
#include "apiserver/rest/warnings.h"
#include "apiserver/runtime/convert.h"
#include "base/status_macros.h"
#include "endpoints/handlers/audit.h"

namespace apiserver::v0::endpoints {

namespace {

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!joined.empty()) joined += ", ";
    joined += part;
  }
  return joined;
}

// Adds an error as a warning. One of the YAML parser has several lines: each but the first is a
// warning.
void WarnOf(const Context& ctx, std::string_view error) {
  constexpr std::string_view kYamlPrefix = "yaml: unmarshal errors:\n";
  if (!error.starts_with(kYamlPrefix)) return rest::AddWarning(ctx, std::string(error));
  error.remove_prefix(kYamlPrefix.size());
  while (!error.empty()) {
    std::string_view line = error.substr(0, error.find('\n'));
    error.remove_prefix(std::min(line.size() + 1, error.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    rest::AddWarning(ctx, std::string(line));
  }
}

// A larger body takes a loop too long: it is decoded, checked and encoded.
constexpr std::size_t kBodyOnLoop = 32 << 10;

Status WriteTimedOut() {
  return meta::NewTimeoutError(
      "request did not complete within requested timeout - context deadline exceeded", 0);
}

}  // namespace

// kWouldBlock: the step is repeated on the pool.
Status RequestScope::MayRunHere(const http::Exchange& exchange, bool read) const {
  if (exchange.ctx().may_block()) return {};
  if (read && ReadsInline()) return {};
  return {Reason::kWouldBlock, "runs on the pool"};
}

// The span of the steps, not of the response: a slow client must not make a write that has
// succeeded fail.
Status RequestScope::MayWriteHere(http::Exchange& exchange) const {
  exchange.EndEarlyAfter(environment->write_timeout, http::Exchange::Span::kSteps, &WriteTimedOut);
  return MayRunHere(exchange, /*read=*/false);
}

Status RequestScope::MayWriteHere(http::Exchange& exchange,
                                  std::initializer_list<admission::Operation> operations) const {
  const Status here = MayWriteHere(exchange);
  return here.ok() || !WritesInline(exchange, operations) ? here : Status();
}

// Asks for all that decides, so that hardly any write has to begin again on the pool.
bool RequestScope::WritesInline(const http::Exchange& exchange,
                                std::initializer_list<admission::Operation> operations) const {
  if (!capabilities.inline_writer || !capabilities.inline_writer->WritesInline()) return false;
  const auto body = exchange.body();
  if (body == nullptr || body->size() > kBodyOnLoop) return false;
  const admission::Chain* const chain = environment->admission;
  if (chain == nullptr) return true;
  const std::string_view space = exchange.Get<request::RequestInfo>().namespace_;
  return std::all_of(operations.begin(), operations.end(), [&](admission::Operation operation) {
    return chain->RunsInline(operation, space);
  });
}

// Reserves the worst case before decoding, so that many large bodies at once cannot exhaust memory.
Status ReserveDecoding(http::Exchange& exchange) {
  if (exchange.decoding().TryResize(codec::DecodedBytesMax(exchange.body()->size()))) return {};
  return meta::NewTooManyRequests(
      "decoding other requests takes all memory there is for it, please try again", 1);
}

// The parts behind "namespaces/x/pods/y" or its subresource, with a slash at the end if the URL has
// one.
std::string SubpathOf(const request::RequestInfo& info) {
  std::string subpath;
  for (std::size_t i = info.subresource.empty() ? 2 : 3; i < info.parts.size(); ++i) {
    subpath.append("/").append(info.parts[i]);
  }
  if (info.path.ends_with('/')) subpath += '/';
  return subpath;
}

// Lets the request wait without a thread until the cache is as new as the request; see
// rest::InlineReader.
http::Step WhenFresh(const ScopePtr& scope, http::Exchange& exchange,
                     UniqueFunction<http::Step(std::string)> read) {
  rest::InlineReader* const reader = scope->capabilities.inline_reader;
  if (reader == nullptr) return Status(Reason::kWouldBlock, "runs on the pool");
  return http::Step::Later(
      [reader, &exchange, scope, read = std::move(read)](http::Resume resume) mutable {
        auto resumed = [scope, read = std::move(read),
                        resume = std::move(resume)](Result<std::string> version) mutable {
          if (!version.ok()) return resume(version.status());
          // The answer may come on any thread, but the exchange belongs to its loop.
          resume.OnLoop([scope, read = std::move(read), version = std::move(*version)]() mutable {
            return read(std::move(version));
          });
        };
        reader->WhenFresh(exchange.ctx(), std::move(resumed));
      });
}

// Follows the decoding of createHandler and UpdateResource: strict errors, version check, audit,
// conversion, in this order.
Result<std::unique_ptr<runtime::Object>> RequestScope::Decode(
    http::Exchange& exchange, meta::FieldValidation validation) const {
  ASSIGN_OR_RETURN(const codec::MediaType type, BodyMediaType(exchange));
  RETURN_IF_ERROR(ReserveDecoding(exchange));
  ASSIGN_OR_RETURN(codec::DecodedObject decoded,
                   codec::DecodeObject(type, exchange.body(),
                                       {.kind = kind,
                                        .version = version,
                                        .unknown_versions = true,
                                        .lenient = validation == meta::FieldValidation::kIgnore}));
  // The arena is known now, and is mostly smaller than the reservation.
  exchange.decoding().Resize(decoded.object->arena().bytes_reserved());
  const std::string& sent = decoded.object->version();
  RETURN_IF_ERROR(Strict(exchange.ctx(), decoded.strict_errors, validation, sent));
  const runtime::GroupVersion sent_gv{kind->group(), sent};
  // Scale and siblings are sent in a version of another group.
  if (sent != version &&
      !(capabilities.gv_acceptor && capabilities.gv_acceptor->AcceptsGroupVersion(sent_gv))) {
    return meta::NewBadRequest("the API version in the data (" + sent_gv.ToString() +
                               ") does not match the expected API version (" +
                               gvk().group_version().ToString() + ")");
  }
  // The audit log gets the object as the client sent it, before conversion.
  LogRequestObject(exchange, *this, *decoded.object);
  RETURN_IF_ERROR(runtime::Convert(exchange.ctx(), *decoded.object, kind->hub_version()));
  return std::move(decoded.object);
}

Status RequestScope::Strict(const Context& ctx, const std::vector<std::string>& errors,
                            meta::FieldValidation validation, std::string_view sent) const {
  if (errors.empty() || validation == meta::FieldValidation::kIgnore) return {};
  if (validation == meta::FieldValidation::kStrict) {
    return meta::NewBadRequest(
        kind->kind() + " in version " + field::Quote(sent.empty() ? version : sent) +
        " cannot be handled as a " + kind->kind() + ": strict decoding error: " + Joined(errors));
  }
  for (const std::string& error : errors) WarnOf(ctx, error);
  return {};
}

// Runs before admission, as upstream, so the changes of plugins get no owner.
void RequestScope::TrackFields(const http::Exchange& exchange, const runtime::Object* live,
                               runtime::Object& object, std::string_view manager) const {
  if (field_manager == nullptr) return;
  if (!manager.empty()) return field_manager->Update(exchange.ctx(), live, object, manager);
  // Go names the manager by the User-Agent when the client does not.
  const std::string_view agent = exchange.request().headers.Get("User-Agent");
  field_manager->Update(exchange.ctx(), live, object, meta::FieldManagerOf(agent));
}

Status RequestScope::CheckName(const runtime::Object& object, std::string_view name,
                               std::string_view namespace_) const {
  if (object.name().empty()) {
    return meta::NewBadRequest("the name of the object (" + std::string(name) +
                               " based on URL) was undeterminable: name must be provided");
  }
  if (object.name() != name) {
    return meta::NewBadRequest("the name of the object (" + std::string(object.name()) +
                               ") does not match the name on the URL (" + std::string(name) + ")");
  }
  if (!namespace_.empty() && !object.namespace_().empty() && object.namespace_() != namespace_) {
    return meta::NewBadRequest("the namespace of the object (" + std::string(object.namespace_()) +
                               ") does not match the namespace on the request (" +
                               std::string(namespace_) + ")");
  }
  return {};
}

Status RequestScope::CheckFieldSelector(const meta::FieldSelector& selector) const {
  const std::vector<std::string>& more = kind->selectable_fields();
  for (const auto& requirement : selector.requirements()) {
    // Every kind can be selected by these two.
    const std::string& field = requirement.field;
    if (field == "metadata.name" || field == "metadata.namespace") continue;
    if (std::find(more.begin(), more.end(), field) != more.end()) continue;
    if (kind->semantics() == runtime::Semantics::kCustomResource) {
      return meta::NewBadRequest("field label not supported: " + field);
    }
    std::string known = "\"metadata.name\", \"metadata.namespace\"";
    for (const std::string& name : more) known += ", " + field::Quote(name);
    return meta::NewBadRequest(field::Quote(field) + " is not a known field selector: only " +
                               known);
  }
  return {};
}

Result<codec::MediaType> BodyMediaType(const http::Exchange& exchange) {
  const auto type = codec::MediaTypeOfContentType(exchange.request().headers.Get("Content-Type"));
  // A server without the gate answers as if it did not know the type.
  const bool gated = type == codec::MediaType::kCbor && !exchange.Find<response::ServesCbor>();
  if (!type || gated) return meta::NewUnsupportedMediaType(response::AcceptedMediaTypes(exchange));
  return *type;
}

Status CheckDeleteOptionsType(const http::Exchange& exchange) {
  const std::string_view length = exchange.request().headers.Get("Content-Length");
  if (!exchange.has_body() || length.empty() || length == "0") return {};
  return BodyMediaType(exchange).status();
}

// The body wins over the query, which is read only without one; as upstream.
Result<meta::DeleteOptions> ReadDeleteOptions(http::Exchange& exchange) {
  const std::shared_ptr<const std::string> body = exchange.body();
  if (!body || body->empty()) return meta::ParseDeleteOptions(exchange.query().all());
  ASSIGN_OR_RETURN(const codec::MediaType type, BodyMediaType(exchange));
  RETURN_IF_ERROR(ReserveDecoding(exchange));
  if (type == codec::MediaType::kProtobuf) {
    ASSIGN_OR_RETURN(const codec::DecodedBody decoded, codec::DecodeDeleteOptionsProtobuf(body));
    LogDeleteOptions(exchange, decoded);
    return meta::DeleteOptionsFrom(decoded.root);
  }
  ASSIGN_OR_RETURN(const codec::DecodedBody decoded, codec::DecodeBody(type, body));
  if (!decoded.kind.empty() && decoded.kind != "DeleteOptions") {
    // If the body has no version, it is that of the request's own options.
    const std::string& version = decoded.api_version;
    return meta::NewBadRequest("no kind " + field::Quote(decoded.kind) +
                               " is registered for version " +
                               field::Quote(version.empty() ? "v1" : version));
  }
  LogDeleteOptions(exchange, decoded);
  return meta::DeleteOptionsFrom(decoded.root);
}

// `name` is that of a deprecated watch path, which becomes a field selector.
Result<meta::ListOptions> ReadListOptions(const RequestScope& scope, http::Exchange& exchange,
                                          bool forced_watch, std::string_view name) {
  ASSIGN_OR_RETURN(meta::ListOptions options,
                   meta::ParseListOptions(exchange.query().all(), forced_watch));
  RETURN_IF_ERROR(scope.CheckFieldSelector(options.field_selector));
  if (name.empty()) return options;
  if (options.field_selector.empty()) {
    options.field_selector = meta::FieldSelector::Equals("metadata.name", std::string(name));
  } else if (options.field_selector.RequiresExact("metadata.name") != name) {
    return meta::NewBadRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return options;
}

}  // namespace apiserver::v0::endpoints
