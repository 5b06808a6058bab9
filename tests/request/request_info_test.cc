#include "apiserver/request/request_info.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace apiserver::inline v0::request {
namespace {

using Parts = std::vector<std::string_view>;

Result<RequestInfo> Resolve(std::string_view method, std::string_view url) {
  const std::size_t mark = url.find('?');
  const std::string_view query = mark == std::string_view::npos ? "" : url.substr(mark + 1);
  return ResolveRequestInfo(method, url.substr(0, mark), http::Query::Parse(query));
}

struct Row {
  const char* method;
  const char* url;
  const char* verb;
  const char* group;
  const char* version;
  const char* namespace_;
  const char* resource;
  const char* subresource;
  const char* name;
  Parts parts;
};

}  // namespace

namespace {

const Row kResourceRows[] = {
    {"GET", "/api/v1/namespaces", "list", "", "v1", "", "namespaces", "", "", {"namespaces"}},
    {"GET",
     "/api/v1/namespaces/other",
     "get",
     "",
     "v1",
     "other",
     "namespaces",
     "",
     "other",
     {"namespaces", "other"}},
    {"GET", "/api/v1/namespaces/other/pods", "list", "", "v1", "other", "pods", "", "", {"pods"}},
    {"GET",
     "/api/v1/namespaces/other/pods/foo",
     "get",
     "",
     "v1",
     "other",
     "pods",
     "",
     "foo",
     {"pods", "foo"}},
    {"HEAD",
     "/api/v1/namespaces/other/pods/foo",
     "get",
     "",
     "v1",
     "other",
     "pods",
     "",
     "foo",
     {"pods", "foo"}},
    {"GET", "/api/v1/pods", "list", "", "v1", "", "pods", "", "", {"pods"}},
    {"HEAD", "/api/v1/pods", "list", "", "v1", "", "pods", "", "", {"pods"}},
    // Special verbs.
    {"GET",
     "/api/v1/proxy/namespaces/other/pods/foo",
     "proxy",
     "",
     "v1",
     "other",
     "pods",
     "",
     "foo",
     {"pods", "foo"}},
    {"GET",
     "/api/v1/proxy/namespaces/other/pods/foo/subpath/not/a/subresource",
     "proxy",
     "",
     "v1",
     "other",
     "pods",
     "",
     "foo",
     {"pods", "foo", "subpath", "not", "a", "subresource"}},
    {"GET", "/api/v1/watch/pods", "watch", "", "v1", "", "pods", "", "", {"pods"}},
    {"GET", "/api/v1/pods?watch=true", "watch", "", "v1", "", "pods", "", "", {"pods"}},
    {"GET", "/api/v1/pods?watch=false", "list", "", "v1", "", "pods", "", "", {"pods"}},
    {"GET", "/api/v1/pods?watch", "watch", "", "v1", "", "pods", "", "", {"pods"}},
    {"GET", "/api/v1/pods?watch=x&limit=y", "watch", "", "v1", "", "pods", "", "", {"pods"}},
    {"GET",
     "/api/v1/watch/namespaces/other/pods",
     "watch",
     "",
     "v1",
     "other",
     "pods",
     "",
     "",
     {"pods"}},
    {"GET",
     "/api/v1/namespaces/other/pods?watch=1",
     "watch",
     "",
     "v1",
     "other",
     "pods",
     "",
     "",
     {"pods"}},
    {"GET",
     "/api/v1/namespaces/other/pods?watch=0",
     "list",
     "",
     "v1",
     "other",
     "pods",
     "",
     "",
     {"pods"}},
    // Subresources.
    {"GET",
     "/api/v1/namespaces/other/pods/foo/status",
     "get",
     "",
     "v1",
     "other",
     "pods",
     "status",
     "foo",
     {"pods", "foo", "status"}},
    {"GET",
     "/api/v1/namespaces/other/pods/foo/proxy/subpath",
     "get",
     "",
     "v1",
     "other",
     "pods",
     "proxy",
     "foo",
     {"pods", "foo", "proxy", "subpath"}},
    {"PUT",
     "/api/v1/namespaces/other/finalize",
     "update",
     "",
     "v1",
     "other",
     "namespaces",
     "finalize",
     "other",
     {"namespaces", "other", "finalize"}},
    {"PUT",
     "/api/v1/namespaces/other/status",
     "update",
     "",
     "v1",
     "other",
     "namespaces",
     "status",
     "other",
     {"namespaces", "other", "status"}},
    // Verbs.
    {"PATCH",
     "/api/v1/namespaces/other/pods/foo",
     "patch",
     "",
     "v1",
     "other",
     "pods",
     "",
     "foo",
     {"pods", "foo"}},
    {"DELETE",
     "/api/v1/namespaces/other/pods/foo",
     "delete",
     "",
     "v1",
     "other",
     "pods",
     "",
     "foo",
     {"pods", "foo"}},
    {"POST",
     "/api/v1/namespaces/other/pods",
     "create",
     "",
     "v1",
     "other",
     "pods",
     "",
     "",
     {"pods"}},
    {"OPTIONS", "/api/v1/pods", "", "", "v1", "", "pods", "", "", {"pods"}},
    {"DELETE", "/api/v1/nodes", "deletecollection", "", "v1", "", "nodes", "", "", {"nodes"}},
    {"DELETE",
     "/api/v1/namespaces",
     "deletecollection",
     "",
     "v1",
     "",
     "namespaces",
     "",
     "",
     {"namespaces"}},
    {"DELETE",
     "/apis/extensions/v1/namespaces/other/pods",
     "deletecollection",
     "extensions",
     "v1",
     "other",
     "pods",
     "",
     "",
     {"pods"}},
    // Groups and versions.
    {"POST",
     "/apis/extensions/v1beta3/namespaces/other/pods",
     "create",
     "extensions",
     "v1beta3",
     "other",
     "pods",
     "",
     "",
     {"pods"}},
    // Slashes at the ends do not count, those between do.
    {"GET", "//api/v1/pods/", "list", "", "v1", "", "pods", "", "", {"pods"}},
    {"GET", "/api/v1/pods//log", "list", "", "v1", "", "pods", "log", "", {"pods", "", "log"}},
};

}  // namespace

// TestGetAPIRequestInfo
TEST_CASE("request: a resource request is read off its method and path", "[request]") {
  for (const Row& row : kResourceRows) {
    CAPTURE(row.method, row.url);
    const Result<RequestInfo> info = Resolve(row.method, row.url);
    REQUIRE(info.ok());
    CHECK(info->is_resource_request);
    CHECK(info->verb == row.verb);
    CHECK(info->api_prefix == (*row.group == '\0' ? "api" : "apis"));
    CHECK(info->api_group == row.group);
    CHECK(info->api_version == row.version);
    CHECK(info->namespace_ == row.namespace_);
    CHECK(info->resource == row.resource);
    CHECK(info->subresource == row.subresource);
    CHECK(info->name == row.name);
    CHECK(info->parts == row.parts);
  }
}

// TestGetNonAPIRequestInfo
TEST_CASE("request: a path that is too short or elsewhere is no resource request", "[request]") {
  const auto [url, resource] = GENERATE(table<std::string, bool>({
      {"/api/version/resource", true},
      {"/apis/group/version/resource/name/subresource", true},
      {"/api/version/resource/name/subresource", true},
      {"/apis/batch/v1/job", true},
      {"/not-api/version/resource", false},
      {"/badprefix/version/resource", false},
      {"/apis/extensions/v1beta1", false},
      {"/apis/extensions/v1beta1/", false},
      {"/apis/version/resource", false},
      {"/api/version", false},
      {"/api/version/", false},
      {"/api", false},
      {"/", false},
      {"", false},
      {"///", false},
  }));
  CAPTURE(url);

  const Result<RequestInfo> info = Resolve("GET", url);

  REQUIRE(info.ok());
  CHECK(info->is_resource_request == resource);
  CHECK(info->path == url);
}

TEST_CASE("request: the verb of a non-resource request is its method in lower case", "[request]") {
  CHECK(Resolve("GET", "/healthz")->verb == "get");
  CHECK(Resolve("OPTIONS", "/version")->verb == "options");
}

TEST_CASE("request: a path that ends after a special verb is an error", "[request]") {
  const Status status = Resolve("GET", "/api/v1/watch").status();

  CHECK(status.reason() == Reason::kInternalError);
  CHECK(status.message() == "unable to determine kind and namespace from url, /api/v1/watch");
}

// TestSelectorParsing
TEST_CASE("request: selectors are recorded where they count, and may name the object",
          "[request]") {
  struct Selectors {
    const char* method;
    const char* url;
    const char* name;
    const char* verb;
    const char* field;
    const char* label;
  };
  const Selectors rows[] = {
      {"GET", "/apis/g/v/r", "", "list", "", ""},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=name1", "name1", "list",
       "metadata.name=name1", ""},
      {"GET", "/apis/g/v/r?watch=true&fieldSelector=metadata.name=name1", "name1", "watch",
       "metadata.name=name1", ""},
      {"GET", "/apis/g/v/r?fieldSelector=foo=bar&labelSelector=baz=qux", "", "list", "foo=bar",
       "baz=qux"},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=name1,foo", "", "list",
       "metadata.name=name1,foo", ""},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=name1,foo&watch=true", "", "watch",
       "metadata.name=name1,foo", ""},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=name1,foo&watch=false", "", "list",
       "metadata.name=name1,foo", ""},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=name1&limit=x", "", "list",
       "metadata.name=name1", ""},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=name1&resourceVersionMatch=x", "name1",
       "list", "metadata.name=name1", ""},
      {"GET", "/apis/g/v/r?fieldSelector=metadata.name=a%2Fb", "", "list", "metadata.name=a/b", ""},
      {"DELETE", "/apis/g/v/r?fieldSelector=foo=bar&labelSelector=baz=qux", "", "deletecollection",
       "foo=bar", "baz=qux"},
      {"GET",
       "/apis/g/v/r?fieldSelector=metadata.name=foo&fieldSelector=metadata.name=bar"
       "&labelSelector=foo=bar&labelSelector=foo=baz",
       "foo", "list", "metadata.name=foo", "foo=bar"},
      {"GET", "/apis/g/v/r/name?fieldSelector=foo=bar&labelSelector=foo=bar", "name", "get", "",
       ""},
      {"GET", "/apis/g/v/watch/r?fieldSelector=metadata.name=foo&labelSelector=foo=bar", "",
       "watch", "", ""},
      {"GET", "/apis/g/v/watch/r/name?fieldSelector=metadata.name=foo", "name", "watch", "", ""},
  };
  for (const Selectors& row : rows) {
    CAPTURE(row.url);
    const Result<RequestInfo> info = Resolve(row.method, row.url);
    REQUIRE(info.ok());
    CHECK(info->name == row.name);
    CHECK(info->verb == row.verb);
    CHECK(info->field_selector == row.field);
    CHECK(info->label_selector == row.label);
  }
}

}  // namespace apiserver::inline v0::request
