#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// Bodies of nearly three megabytes that no server takes, each made to be told as much as possible
// about: what the test of answers' sizes and the benchmark of their costs send.
namespace hostile_bodies {

// The plain resource that the shapes about metadata are sent to.
struct Plain {
  std::string collection;   // "/api/v1/namespaces/default/configmaps".
  std::string api_version;  // "v1".
  std::string kind;         // "ConfigMap".
};

struct Shape {
  std::string name;
  int code;            // Zero: it depends.
  std::string reason;  // Empty: none.
  std::string method;
  std::string target;
  std::string content_type;
  std::function<std::string()> body;
};

// What is named by PATCH, and exists.
inline constexpr char kName[] = "victim";
inline constexpr std::size_t kBodyBytes = 2'700'000;

// `piece(i)`, with commas between, for as long as there is room.
inline std::string Many(const std::function<std::string(std::size_t)>& piece,
                        std::size_t bytes = kBodyBytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    if (i > 0) text += ',';
    text += piece(i);
  }
  return text;
}
inline std::string Many(const std::string& piece, std::size_t bytes = kBodyBytes) {
  return Many([&](std::size_t) { return piece; }, bytes);
}
inline std::string Numbered(const std::string& before, std::size_t number,
                            const std::string& after) {
  return before + std::to_string(number) + after;
}
inline std::function<std::string(std::size_t)> Each(std::string before, std::string after) {
  return [before = std::move(before), after = std::move(after)](std::size_t i) {
    return Numbered(before, i, after);
  };
}

inline std::string Object(const Plain& plain, const std::string& metadata,
                          const std::string& more = "") {
  return R"({"apiVersion":")" + plain.api_version + R"(","kind":")" + plain.kind +
         R"(","metadata":{"name":"x",)" + metadata + "}" + more + "}";
}
inline std::string OfKind(const std::string& api_version, const std::string& kind,
                          const std::string& more) {
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind +
         R"(","metadata":{"name":"x.example.com"},)" + more + "}";
}

inline constexpr char kJson[] = "application/json";

// What validators of metadata say.
inline std::vector<Shape> OfMetadata(const Plain& plain) {
  const auto post = [&](std::string name, std::string metadata_before,
                        std::function<std::string(std::size_t)> piece, std::string after) {
    return Shape{
        std::move(name),
        422,
        "Invalid",
        "POST",
        plain.collection,
        kJson,
        [plain, before = std::move(metadata_before), piece = std::move(piece),
         after = std::move(after)] { return Object(plain, before + Many(piece) + after); }};
  };
  return {
      post("label keys", R"("labels":{)", Each(R"("a b )", R"(":"x")"), "}"),
      post("label values", R"("labels":{)", Each(R"("k)", R"(":"a b")"), "}"),
      post("annotations", R"("annotations":{)", Each(R"("/)", R"(":"x")"), "}"),
      post("finalizers", R"("finalizers":[)", Each(R"("a b )", R"(")"), "]"),
      post(
          "owners without anything", R"("ownerReferences":[)",
          [](std::size_t) { return std::string("{}"); }, "]"),
      post("owners with a uid", R"("ownerReferences":[)", Each(R"({"uid":")", R"("})"), "]"),
      post("owners that are controllers", R"("ownerReferences":[)",
           Each(R"({"apiVersion":"v1","kind":"Pod","controller":true,"name":"n","uid":")", R"("})"),
           "]"),
      post("owners that are banned", R"("ownerReferences":[)",
           Each(R"({"apiVersion":"v1","kind":"Event","name":"n","uid":")", R"("})"), "]"),
      {"a name", 422, "Invalid", "POST", plain.collection, kJson,
       [plain] {
         return R"({"apiVersion":")" + plain.api_version + R"(","kind":")" + plain.kind +
                R"(","metadata":{"name":")" + std::string(kBodyBytes, '/') + R"("}})";
       }},
      {"a label of one value", 422, "Invalid", "POST", plain.collection, kJson,
       [plain] {
         return Object(plain, R"("labels":{"k":")" + std::string(kBodyBytes, '<') + R"("})");
       }},
  };
}

// What is made of entries that a client cannot know how to make: they may be dropped, too, and the
// object taken.
inline std::vector<Shape> OfManagedFields(const Plain& plain) {
  const auto post = [&](std::string name, std::string entry) {
    return Shape{std::move(name),
                 0,
                 "",
                 "POST",
                 plain.collection + "?dryRun=All",
                 kJson,
                 [plain, entry = std::move(entry)] {
                   return Object(plain, R"("managedFields":[)" + Many(entry) + "]");
                 }};
  };
  return {
      post("managed fields without anything", "{}"),
      post("managed fields of bad operations",
           R"({"manager":"\u0001\u0002","operation":"x","fieldsType":"y"})"),
      post("managed fields of bad fields",
           R"({"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",)"
           R"("fieldsV1":{"x":{"k:{":1}}})"),
  };
}

// What decoders say.
inline std::vector<Shape> OfDecoding(const Plain& plain) {
  const std::string strict = plain.collection + "?fieldValidation=Strict";
  const auto post = [&](std::string name, std::string target, std::string type,
                        std::function<std::string()> body) {
    return Shape{std::move(name), 400, "BadRequest", "POST", std::move(target), std::move(type),
                 std::move(body)};
  };
  return {
      post("unknown fields", strict, kJson,
           [plain] { return Object(plain, R"("uid":"")", "," + Many(Each("\"u", "\":1"))); }),
      post("unknown fields below a long key", strict, kJson,
           [plain] {
             return Object(plain, R"("uid":"",")" + std::string(kBodyBytes / 2, 'k') + R"(":{)" +
                                      Many(Each("\"u", "\":1"), kBodyBytes / 2) + "}");
           }),
      post("duplicate fields below a long key", strict, kJson,
           [plain] {
             return Object(plain, R"("labels":{"a":"b"},")" + std::string(kBodyBytes / 2, 'k') +
                                      R"(":{)" + Many(R"("d":1)", kBodyBytes / 2) + "}");
           }),
      post("duplicate fields", strict, kJson,
           [plain] { return Object(plain, R"("labels":{)" + Many(R"("d":"1")") + "}"); }),
      post("a wrong type", strict, kJson,
           [plain] { return Object(plain, R"("finalizers":[)" + Many("1") + "]"); }),
      post("a text for a number", strict, kJson,
           [plain] {
             return Object(plain, R"("generation":")" + std::string(kBodyBytes, '9') + '"');
           }),
      post("a number of megabytes", strict, kJson,
           [plain] { return Object(plain, R"("generation":)" + std::string(kBodyBytes, '9')); }),
      post("a deep document", strict, kJson, [] { return std::string(kBodyBytes, '['); }),
      post("a text without end", strict, kJson,
           [] { return "{\"" + std::string(kBodyBytes, 'a'); }),
      post("no JSON", strict, kJson, [] { return std::string(kBodyBytes, '<'); }),
      post("another kind", strict, kJson,
           [plain] {
             return R"({"apiVersion":"v1","kind":")" + std::string(kBodyBytes, 'K') + R"("})";
           }),
      post("another version", strict, kJson,
           [plain] {
             return R"({"apiVersion":")" + std::string(kBodyBytes, '/') + R"(","kind":"K"})";
           }),
      post("duplicate keys in YAML", strict, "application/yaml",
           [plain] {
             std::string yaml = "apiVersion: " + plain.api_version + "\nkind: " + plain.kind +
                                "\nmetadata:\n  name: x\n  labels:\n";
             while (yaml.size() < kBodyBytes / 4) yaml += "    d: e\n";
             return yaml;
           }),
      post("no YAML", strict, "application/yaml",
           [] { return "a: [" + std::string(kBodyBytes / 4, '{'); }),
      post("no protobuf", strict, "application/vnd.kubernetes.protobuf",
           [] { return std::string("k8s\0", 4) + std::string(kBodyBytes, '\xff'); }),
  };
}

// What patches say.
inline std::vector<Shape> OfPatches(const Plain& plain) {
  const auto patch = [&](std::string name, int code, std::string reason, std::string type,
                         std::function<std::string()> body, const std::string& query = "") {
    return Shape{std::move(name),
                 code,
                 std::move(reason),
                 "PATCH",
                 plain.collection + "/" + kName + query,
                 "application/" + type,
                 std::move(body)};
  };
  const auto owners = [] {
    return R"({"metadata":{"ownerReferences":[)" + Many(Each(R"({"uid":")", R"("})")) + "]}}";
  };
  const auto labels = [] {
    return R"({"metadata":{"labels":{)" + Many(Each(R"("a b )", R"(":"x")")) + "}}}";
  };
  return {
      patch("a JSON patch of tests", 422, "Invalid", "json-patch+json",
            [] {
              return R"([{"op":"test","path":"/metadata/uid","value":")" +
                     std::string(kBodyBytes, 'v') + R"("}])";
            }),
      patch("a JSON patch with a long path", 422, "Invalid", "json-patch+json",
            [] {
              return R"([{"op":"replace","path":"/)" + std::string(kBodyBytes, 'p') +
                     R"(/q","value":1}])";
            }),
      patch("a JSON patch of an unknown operation", 422, "Invalid", "json-patch+json",
            [] { return R"([{"op":")" + std::string(kBodyBytes, 'o') + R"(","path":"/a"}])"; }),
      patch("a JSON patch of too many operations", 413, "RequestEntityTooLarge", "json-patch+json",
            [] { return "[" + Many(R"({"op":"test","path":"/kind","value":"x"})") + "]"; }),
      patch("a JSON patch that puts labels", 422, "Invalid", "json-patch+json",
            [] {
              return R"([{"op":"add","path":"/metadata/labels","value":{)" +
                     Many(Each(R"("a b )", R"(":"x")")) + "}}]";
            }),
      patch("a merge patch of owners", 422, "Invalid", "merge-patch+json", owners),
      patch("a merge patch of labels", 422, "Invalid", "merge-patch+json", labels),
      patch(
          "a merge patch of unknown fields", 422, "Invalid", "merge-patch+json",
          [] { return "{" + Many(Each("\"u", "\":1")) + "}"; }, "?fieldValidation=Strict"),
      patch("a strategic patch of labels", 422, "Invalid", "strategic-merge-patch+json", labels),
      patch(
          "an apply of labels", 422, "Invalid", "apply-patch+yaml",
          [plain] {
            return R"({"apiVersion":")" + plain.api_version + R"(","kind":")" + plain.kind +
                   R"(","metadata":{"name":"victim","labels":{)" +
                   Many(Each(R"("a b )", R"(":"x")"), kBodyBytes / 4) + "}}}";
          },
          "?fieldManager=m"),
  };
}

// Where objects of a group go.
struct Place {
  std::string target;
  std::string api_version;
  std::string kind;
};

// A wrong object of a group; its parts are many.
inline Shape InGroup(std::string name, Place place, std::string before,
                     std::function<std::string(std::size_t)> piece, std::string after) {
  const std::string target = place.target;
  return {std::move(name),
          422,
          "Invalid",
          "POST",
          target,
          kJson,
          [place = std::move(place), before = std::move(before), piece = std::move(piece),
           after = std::move(after)] {
            return OfKind(place.api_version, place.kind, before + Many(piece) + after);
          }};
}
inline std::function<std::string(std::size_t)> Same(std::string text) {
  return [text = std::move(text)](std::size_t) { return text; };
}

// What the validators of RBAC say.
inline std::vector<Shape> OfRbac() {
  const std::string group = "rbac.authorization.k8s.io/v1";
  const std::string namespaced = "/apis/" + group + "/namespaces/default/";
  const auto role = [&](std::string name, std::string before,
                        std::function<std::string(std::size_t)> piece, std::string after) {
    return InGroup(std::move(name), {namespaced + "roles", group, "Role"}, std::move(before),
                   std::move(piece), std::move(after));
  };
  return {
      role("rules without anything", R"("rules":[)", Same("{}"), "]"),
      role("rules with URLs", R"("rules":[{"verbs":["get"],"resources":["a"],"nonResourceURLs":[)",
           Each(R"("/)", R"(")"), "]}]"),
      role("rules with a URL each", R"("rules":[)",
           Same(R"({"nonResourceURLs":["/"],"resources":["a"]})"), "]"),
      InGroup("selectors of an aggregation",
              {"/apis/" + group + "/clusterroles", group, "ClusterRole"},
              R"("aggregationRule":{"clusterRoleSelectors":[)",
              Same(R"({"matchLabels":{"a b":"c d"},"matchExpressions":[{}]})"), "]}"),
      InGroup("subjects", {namespaced + "rolebindings", group, "RoleBinding"},
              R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},)"
              R"("subjects":[)",
              Same("{}"), "]"),
  };
}

// `shape`, whose defaults alone take more memory than its body may.
inline Shape Outgrown(Shape shape) {
  shape.code = 413;
  shape.reason = "RequestEntityTooLarge";
  return shape;
}

// What the validators of webhooks and flow schemas say.
inline std::vector<Shape> OfConfiguration() {
  const std::string registration = "admissionregistration.k8s.io/v1";
  const std::string flows = "flowcontrol.apiserver.k8s.io/v1";
  const auto hooks = [&](std::string name, std::string before, std::string piece,
                         std::string after) {
    return InGroup(std::move(name),
                   {"/apis/" + registration + "/validatingwebhookconfigurations", registration,
                    "ValidatingWebhookConfiguration"},
                   std::move(before), Same(std::move(piece)), std::move(after));
  };
  return {
      Outgrown(hooks("webhooks without anything", R"("webhooks":[)", "{}", "]")),
      hooks("webhooks with rules", R"("webhooks":[{"name":"a.b.c","rules":[)",
            R"({"operations":["x","*"],"resources":["*","a","*/*",""]})", "]}]"),
      hooks("webhooks with selectors",
            R"("webhooks":[{"name":"a.b.c","namespaceSelector":{"matchExpressions":[)",
            R"({"key":"a b","operator":"In","values":["c d"]})", "]}}]"),
      InGroup("rules of a flow schema", {"/apis/" + flows + "/flowschemas", flows, "FlowSchema"},
              R"("spec":{"matchingPrecedence":7,"priorityLevelConfiguration":{"name":"p"},)"
              R"("rules":[)",
              Same(R"({"subjects":[{"kind":"x"}],"resourceRules":[{}]})"), "]}"),
  };
}

// What reviews say.
inline std::vector<Shape> OfReviews() {
  return {
      {"an access review with metadata", 422, "Invalid", "POST",
       "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", kJson,
       [] {
         return R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
                R"("metadata":{"labels":{)" +
                Many(Each(R"("k)", R"(":"v")")) + R"(}},"spec":{}})";
       }},
      {"a review of many tokens", 400, "BadRequest", "POST",
       "/apis/authentication.k8s.io/v1/tokenreviews", kJson,
       [] {
         return R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)"
                R"("spec":{"token":[)" +
                Many("\"t\"") + "]}}";
       }},
  };
}

// What options of a delete say.
inline std::vector<Shape> OfDeletes(const Plain& plain) {
  const std::string target = plain.collection + "/" + kName;
  return {
      {"dry runs of a delete", 422, "Invalid", "DELETE", target, kJson,
       [] {
         return R"({"kind":"DeleteOptions","apiVersion":"v1","dryRun":[)" + Many("\"x\"") + "]}";
       }},
      {"the policy of a delete", 422, "Invalid", "DELETE", target, kJson,
       [] {
         return R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":")" +
                std::string(kBodyBytes, 'p') + R"("})";
       }},
      {"a type of a delete", 400, "BadRequest", "DELETE", target, kJson,
       [] {
         return R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":")" +
                std::string(kBodyBytes, 'p') + R"("})";
       }},
  };
}

inline std::vector<Shape> All(const Plain& plain) {
  std::vector<Shape> all;
  for (std::vector<Shape> some :
       {OfMetadata(plain), OfManagedFields(plain), OfDecoding(plain), OfPatches(plain), OfRbac(),
        OfConfiguration(), OfReviews(), OfDeletes(plain)}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace hostile_bodies
