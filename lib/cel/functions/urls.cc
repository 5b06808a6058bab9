#include <algorithm>
#include <vector>

#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/run/map.h"
#include "cel/types/spell.h"
#include "text/go_url.h"
#include "text/percent.h"

// k8s.io/apiserver/pkg/cel/library/urls.go and pkg/cel/url.go.
namespace apiserver::v0::cel::functions {
namespace urls_rows {
namespace {

using types::kBool;
using types::kListOf;
using types::kMapOf;
using types::kString;

constexpr TypeNode kUrl = types::Object("kubernetes.URL");
constexpr const TypeNode& kStrings = kListOf<kString>;

// The parts of a URL that functions read, in the arena.
struct Url {
  std::string_view text;  // As Go's URL.String prints it.
  std::string_view scheme;
  std::string_view host;
  std::string_view hostname;
  std::string_view port;
  std::string_view escaped_path;
  std::string_view raw_query;
};

bool EqualUrls(const void* a, const void* b) {
  return static_cast<const Url*>(a)->text == static_cast<const Url*>(b)->text;
}

std::string TakeOutUrl(const void* object) {
  return NotTakenOut("*url.URL", static_cast<const Url*>(object)->text);
}

constexpr OpaqueKind kUrlKind = {
    .type = &kUrl, .equal = EqualUrls, .go_type = "cel.URL", .error_taken_out = TakeOutUrl};

Value FromString(CallContext& call, std::span<const Value> arguments) {
  constexpr std::string_view kWrong = "URL parse error during conversion from string: ";
  // A URL is kept in parts: twice its text, and escapes triple it.
  constexpr std::uint64_t kCopies = 6;
  if (!call.CanBuild(arguments[0].size() * kCopies)) return call.OverLimit();
  // Go splits off the fragment only in its second reading.
  const text::Read<text::GoUrl> checked = text::ParseGoRequestUri(arguments[0].AsText());
  if (!checked.ok()) return call.Error(std::string(kWrong) + checked.error().message());
  const text::Read<text::GoUrl> read = text::ParseGoUrl(arguments[0].AsText());
  if (!read.ok()) return call.Error(std::string(kWrong) + read.error().message());
  Arena& arena = call.arena();
  const Url& url = arena.Make(Url{.text = arena.Copy(read->String()),
                                  .scheme = arena.Copy(read->scheme),
                                  .host = arena.Copy(read->host),
                                  .hostname = arena.Copy(read->Hostname()),
                                  .port = arena.Copy(read->Port()),
                                  .escaped_path = arena.Copy(read->EscapedPath()),
                                  .raw_query = arena.Copy(read->raw_query)});
  return Value::Opaque(kUrlKind, &url);
}

Value IsUrl(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(text::ParseGoRequestUri(arguments[0].AsText()).ok());
}

// Returns a part of a URL.
template <std::string_view Url::*part>
Value Get(CallContext&, std::span<const Value> arguments) {
  return Value::String(arguments[0].AsOpaque<Url>().*part);
}

// A parameter of a query, decoded.
struct Parameter {
  std::string key;
  std::string value;
};

// Reads a query as Go's url.ParseQuery does, which passes over what is malformed, and over all if
// there are too many.
std::vector<Parameter> ParseQuery(std::string_view query) {
  constexpr std::ptrdiff_t kParametersMax = 10'000;
  std::vector<Parameter> parameters;
  if (std::ranges::count(query, '&') + 1 > kParametersMax) return parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> key = text::PercentDecode(pair.substr(0, equals), true);
    std::optional<std::string> value =
        text::PercentDecode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (key.has_value() && value.has_value()) {
      parameters.push_back({*std::move(key), *std::move(value)});
    }
  }
  return parameters;
}

Value GetQuery(CallContext& call, std::span<const Value> arguments) {
  std::vector<Parameter> parameters = ParseQuery(arguments[0].AsOpaque<Url>().raw_query);
  // The values of a key keep their order.
  std::ranges::stable_sort(parameters, {}, &Parameter::key);
  MapContent& query = call.arena().Make(MapContent());
  for (std::size_t begin = 0; begin < parameters.size();) {
    const std::string& key = parameters[begin].key;
    std::vector<std::string_view> values;
    for (; begin < parameters.size() && parameters[begin].key == key; ++begin) {
      values.push_back(parameters[begin].value);
    }
    const Value made = MakeString(call, key);
    const Value list = MakeStrings(call, values);
    if (made.is_error() || list.is_error()) return call.OverLimit();
    MapPut(query, made, list, call.arena());
  }
  return Value::Map(query);
}

constexpr Overload kFromString[] = {
    {.id = "string_to_url", .signature = Free(kUrl, kString), .handler = FromString},
};
constexpr Overload kIsUrl[] = {
    {.id = "is_url_string", .signature = Free(kBool, kString), .handler = IsUrl},
};
constexpr Overload kGetScheme[] = {
    {.id = "url_get_scheme", .signature = Member(kString, kUrl), .handler = Get<&Url::scheme>},
};
constexpr Overload kGetHost[] = {
    {.id = "url_get_host", .signature = Member(kString, kUrl), .handler = Get<&Url::host>},
};
constexpr Overload kGetHostname[] = {
    {.id = "url_get_hostname", .signature = Member(kString, kUrl), .handler = Get<&Url::hostname>},
};
constexpr Overload kGetPort[] = {
    {.id = "url_get_port", .signature = Member(kString, kUrl), .handler = Get<&Url::port>},
};
constexpr Overload kGetEscapedPath[] = {
    {.id = "url_get_escaped_path",
     .signature = Member(kString, kUrl),
     .handler = Get<&Url::escaped_path>},
};
constexpr Overload kGetQuery[] = {
    {.id = "url_get_query",
     .signature = Member(kMapOf<kString, kStrings>, kUrl),
     .handler = GetQuery},
};

constexpr Function kFunctions[] = {
    {.name = "url",
     .overloads = kFromString,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversalAndCopy},
    {.name = "isURL", .overloads = kIsUrl},
    UnitCostRow("getScheme", kGetScheme),
    UnitCostRow("getHost", kGetHost),
    UnitCostRow("getHostname", kGetHostname),
    UnitCostRow("getPort", kGetPort),
    UnitCostRow("getEscapedPath", kGetEscapedPath),
    UnitCostRow("getQuery", kGetQuery),
};

}  // namespace
}  // namespace urls_rows

std::span<const Function> Urls() { return urls_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
