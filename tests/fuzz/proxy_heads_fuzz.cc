// Heads that a proxy passes on: a client's request, or a backend's answer with its page. The first
// byte says which.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/http1_head.h"
#include "proxy/forward_headers.h"
#include "proxy/forward_url.h"
#include "proxy/location_rewriter.h"
#include "proxy/page_body.h"
#include "require.h"
#include "text/go_url.h"

namespace apiserver_fuzz {
namespace {

namespace http = apiserver::http;
namespace proxy = apiserver::proxy;
namespace text = apiserver::text;

// Returns a name in lower case, with dashes for underscores.
std::string NameOf(std::string_view field) {
  std::string name(field);
  for (char& c : name) {
    if (c == '_') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

void RequireForwardable(const http::Headers& headers, std::size_t connections) {
  std::size_t seen = 0;
  for (const auto& field : headers) {
    const std::string name = NameOf(field.name);
    seen += name == "connection" ? 1 : 0;
    Require(name != "authorization" && name != "x-remote-user" && name != "x-remote-group");
    Require(!name.starts_with("x-remote-extra-") && !name.starts_with("impersonate-"));
    Require(!http::EqualIgnoreCase(field.name, "Transfer-Encoding"));
  }
  Require(seen == connections);
  Require(http::ValidFields(headers));
}

void RequireTarget(std::string_view target) {
  Require(target.starts_with('/'));
  for (const char c : target) Require(c != ' ' && c != '\r' && c != '\n' && c != '\0');
}

void ForwardRequest(std::string_view head) {
  http::Request request;
  http::Framing framing;
  if (!http::ParseRequestHead(head, request, framing)) return;
  request.remote_address = "10.0.0.1:1";
  RequireForwardable(proxy::PlainRequestHeaders(request), 0);
  if (proxy::IsUpgradeRequest(request)) {
    RequireForwardable(proxy::UpgradeRequestHeaders(request, "b"), 1);
  }
  const auto asked = proxy::RequestUrl(request);
  const proxy::Location at{.host = "b", .path = request.path, .raw_query = request.query};
  for (const bool as_asked : {false, true}) {
    const proxy::UrlRules rules{.use_request_location = as_asked, .append_location_path = as_asked};
    RequireTarget(proxy::PlainTarget(at, asked, rules));
    RequireTarget(proxy::UpgradeTarget(at, asked, rules));
  }
  (void)proxy::RootRedirect(proxy::PlainUrl({}, asked), asked, request.method);
  (void)proxy::EncodeQuery(request.query);
}

void PassOn(std::string_view head, std::string page) {
  http::ResponseHead answer;
  http::Framing framing;
  if (!http::ParseResponseHead(head, answer, framing)) return;
  proxy::RemoveHopByHop(answer.headers);
  proxy::RemoveCorsHeaders(answer.headers);
  const proxy::LocationRewriter rewriter{
      .path_prepend = "/p", .source_host = "b", .request_host = "h"};
  if (auto url = text::ParseGoUrl(answer.headers.Get("Location")); url.ok()) {
    for (const char c : rewriter.Rewrite(*url)) Require(c != '\r' && c != '\n');
  }
  if (!proxy::IsRewritablePage(answer.headers)) return;
  const std::string_view encoding = answer.headers.Get("Content-Encoding");
  const std::string before = page;
  const std::string after = proxy::RewritePage(std::move(page), rewriter, encoding);
  const bool has_tags = !encoding.empty() || before.find('<') != std::string::npos;
  if (!has_tags) Require(after == before);
}

}  // namespace
}  // namespace apiserver_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  const std::string_view head = bytes.substr(0, end + 4);
  if ((data[0] & 1) != 0) {
    apiserver_fuzz::ForwardRequest(head);
  } else {
    apiserver_fuzz::PassOn(head, std::string(bytes.substr(end + 4)));
  }
  return 0;
}
