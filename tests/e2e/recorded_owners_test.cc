// The requests of interop_record.py's write(), sent to a server of ours: the owners it keeps are,
// to the byte but for their times, those a Go server kept. See tests/testdata/go-storage/README.md.
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/codec/json.h"
#include "apiserver/testing/server/test_server.h"
#include "text/base64.h"
#include "wardle/flunder.h"

namespace apiserver::inline v0 {
namespace {

constexpr std::string_view kText =
    "<a&b> \\\" \\\\ / \\n\\r\\t\\b\\f\\u0001\\u001f\\u007f\\u0080 \\u00e4\\u20ac\\ud83d\\ude00 "
    "\\u2028\\u2029 \\ufffd";

// metadata.managedFields of an object in JSON, whose times all are "T".
std::string OwnersOf(std::string_view object) {
  runtime::Arena arena;
  const auto root = codec::ParseJson(object, arena);
  REQUIRE(root.ok());
  runtime::ListBuilder masked(arena);
  for (const runtime::Value entry : (*root)["metadata"]["managedFields"].items()) {
    masked.Add(runtime::With(entry, "time", runtime::Value::String("T"), arena));
  }
  std::string json;
  codec::AppendJson(masked.Build(), json);
  return json;
}

// What the Go server kept, by name; a generated name without its end.
std::map<std::string, std::string> RecordedOwners() {
  const auto file =
      RealFileSystem().Read(std::string(APISERVER_TESTDATA) + "/go-storage/flunders.txt");
  REQUIRE(file.ok());
  std::map<std::string, std::string> owners;
  std::istringstream lines(*file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    std::string key;
    std::string revision;
    std::string lease;
    std::string base64;
    words >> what >> key >> revision >> lease >> base64;
    if (what != "plain") continue;
    std::string name = key.substr(key.rfind('/') + 1);
    if (name.starts_with("f-generated-")) name = "f-generated-";
    owners[name] = OwnersOf(*text::DecodeBase64(base64));
  }
  REQUIRE(owners.size() == 8);
  return owners;
}

struct Step {
  std::string method;
  std::string version;
  std::string name;  // In the path; empty: a create.
  std::string body;  // Without kind and apiVersion unless it is applied.
  std::string content_type = "application/json";
  std::string query = "";
};

std::vector<Step> Steps() {
  const std::string text(kText);
  return {
      {"POST", "v1alpha1", "", R"({"metadata":{"name":"a-bare"}})"},
      {"POST", "v1alpha1", "", R"({"metadata":{"name":"b-defaulted"},"spec":{"reference":"one"}})"},
      {"POST", "v1beta1", "",
       R"({"metadata":{"name":"c-fischer"},)"
       R"("spec":{"fischerReference":"two","referenceType":"Fischer"}})"},
      {"POST", "v1beta1", "",
       R"({"metadata":{"name":"d-metadata","labels":{"z":"1","a":"x","M":""},)"
       R"("annotations":{"b":"","example.com/a":"text"},)"
       R"("finalizers":["example.com/one","example.com/two"],"ownerReferences":[)"
       R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true,)"
       R"("blockOwnerDeletion":false},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"w"}]},)"
       R"("spec":{"flunderReference":"one","referenceType":"Flunder"}})"},
      {"POST", "v1alpha1", "",
       R"({"metadata":{"name":"e-escapes","annotations":{"text":")" + text +
           R"("}},"spec":{"reference":")" + text + R"("}})"},
      {"POST", "v1alpha1", "", R"({"metadata":{"generateName":"f-generated-"}})"},
      {"POST", "v1alpha1", "",
       R"({"metadata":{"name":"g-deleting","finalizers":["example.com/one"]}})"},
      {"DELETE", "v1alpha1", "g-deleting", R"({"gracePeriodSeconds":5})"},
      {"PATCH", "v1beta1", "h-applied",
       R"({"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",)"
       R"("metadata":{"name":"h-applied","labels":{"a":"b"}},)"
       R"("spec":{"flunderReference":"x","referenceType":"Flunder"}})",
       "application/apply-patch+yaml", "?fieldManager=someone&force=true"},
      {"PATCH", "v1alpha1", "a-bare", R"({"metadata":{"labels":{"patched":"yes"}}})",
       "application/merge-patch+json"}};
}

}  // namespace

TEST_CASE("interop: the owners of fields are those a Go server keeps", "[interop]") {
  testing::TestServerOptions options;
  options.resources = {{*wardle::NewFlunderKind(), wardle::NewFlunderStrategy()}};
  const auto server = std::move(testing::StartTestServer(std::move(options))).value();
  std::map<std::string, std::string> written;
  for (const Step& step : Steps()) {
    const std::string path = "/apis/wardle.example.com/" + step.version +
                             "/namespaces/default/flunders" +
                             (step.name.empty() ? "" : "/" + step.name) + step.query;
    const auto answer =
        server->Call(step.method, path, step.body,
                     {{"Content-Type", step.content_type}, {"User-Agent", "interop"}});
    INFO(answer.body);
    REQUIRE(answer.code < 300);
    runtime::Arena arena;
    const auto object = codec::ParseJson(answer.body, arena);
    REQUIRE(object.ok());
    const auto metadata = (*object)["metadata"];
    const bool generated = !metadata["generateName"].is_null();
    const std::string name(metadata[generated ? "generateName" : "name"].AsString());
    written[name] = OwnersOf(answer.body);
  }
  CHECK(written == RecordedOwners());
}

}  // namespace apiserver::inline v0
