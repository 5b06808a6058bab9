// Resources of containers, pods and nodes: rows of TestValidateResourceRequirements,
// TestValidatePodResources, TestValidatePodResourceConsistency, TestValidateResourceNames and
// TestHugePagesIsolation (apis/core/validation).
#include "groups/core/resource_validation.h"

#include <set>

#include "groups/value_rows.h"

namespace resource_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::CheckValueRows;
using testing::ValueRow;

const std::set<std::string_view> kClaims = {"a", "b"};

void CheckOfContainer(runtime::Value requirements, const field::Path& path,
                      field::ErrorList& errors) {
  groups::core::CheckContainerResources(requirements, kClaims, path, errors);
}

}  // namespace

TEST_CASE("groups: names of resources", "[groups]") {
  const std::string long_name = "my.favorite.app.co/" + std::string(64, 'a');
  const std::string longest = "my.favorite.app.co/" + std::string(63, 'a');
  struct Case {
    std::string name;
    bool valid;
  };
  const Case cases[] = {{"memory", true},
                        {"cpu", true},
                        {"storage", true},
                        {"requests.cpu", true},
                        {"limits.memory", true},
                        {"pods", true},
                        {"services.nodeports", true},
                        {"hugepages-2Mi", true},
                        {"requests.hugepages-2Mi", true},
                        {"kubernetes.io/resource.0", true},
                        {"my.favorite.app.co/12345", true},
                        {"my.favorite.app.co/_12345", false},
                        {"my.favorite.app.co/12345_", false},
                        {longest, true},
                        {long_name, false},
                        {"kubernetes.io/..", false},
                        {"kubernetes.io/", false},
                        {"/", false},
                        {"", false},
                        {".", false},
                        {"..", false},
                        {"network", false},
                        {"requests.foo", false},
                        {"bad/name/twice", false}};
  for (const Case& test : cases) {
    INFO(test.name);
    field::ErrorList errors;
    groups::core::CheckResourceName(test.name, field::Path("f"), errors);
    CHECK(errors.empty() == test.valid);
  }
}

TEST_CASE("groups: amounts of resources", "[groups]") {
  struct Case {
    const char* resource;
    const char* quantity;
    const char* findings;
  };
  const Case cases[] = {{"cpu", "0", ""},
                        {"cpu", "100m", ""},
                        {"cpu", "-1", "Invalid f"},
                        {"memory", "1Gi", ""},
                        {"memory", "-1Gi", "Invalid f"},
                        {"pods", "10", ""},
                        {"pods", "10500m", "Invalid f"},
                        {"pods", "-500m", "Invalid f, Invalid f"},
                        {"example.com/gpu", "1", ""},
                        {"example.com/gpu", "1500m", "Invalid f"},
                        // Kubernetes' own are not counted, whatever they are.
                        {"kubernetes.io/gpu", "1500m", ""},
                        {"services.loadbalancers", "1.5", "Invalid f"}};
  for (const Case& test : cases) {
    INFO(test.resource << " " << test.quantity);
    field::ErrorList errors;
    groups::core::CheckQuantity(test.resource, runtime::Value::String(test.quantity),
                                field::Path("f"), errors);
    CHECK(testing::FindingsText(errors) == test.findings);
  }
}

TEST_CASE("groups: requests and limits of a container", "[groups]") {
  const ValueRow rows[] = {
      {"nothing", "{}"},
      {"limits with requests of cpu and memory",
       R"({"limits":{"cpu":"10","memory":"10Gi"},"requests":{"cpu":"5m","memory":"1Gi"}})"},
      {"requests without limits", R"({"requests":{"cpu":"5m","example.com/a":"1"}})",
       "Required f.limits"},
      {"requests above limits", R"({"limits":{"cpu":"5"},"requests":{"cpu":"5100m"}})",
       "Invalid f.requests"},
      {"a resource that is not overcommitted",
       R"({"limits":{"example.com/a":"2"},"requests":{"example.com/a":"1"}})",
       "Invalid f.requests"},
      {"the same amount in other words",
       R"({"limits":{"example.com/a":"2"},"requests":{"example.com/a":"2000m"}})"},
      {"names that containers do not have", R"({"limits":{"storage":"1","pods":"1","a_b/c":"1"}})",
       "Invalid f.limits[storage], Invalid f.limits[pods], Invalid f.limits[a_b/c], "
       "Invalid f.limits[a_b/c]"},
      {"amounts that are none", R"({"limits":{"cpu":"-1","example.com/a":"1m"}})",
       "Invalid f.limits[cpu], Invalid f.limits[example.com/a]"},
      {"whole pages", R"({"limits":{"cpu":"1","hugepages-2Mi":"4Mi"},
           "requests":{"cpu":"1","hugepages-2Mi":"4Mi"}})"},
      {"pages of two sizes",
       R"({"limits":{"memory":"1Gi","hugepages-2Mi":"2Mi","hugepages-1Gi":"2Gi"}})"},
      {"pages alone", R"({"limits":{"hugepages-2Mi":"4Mi"}})", "Forbidden f"},
      {"a part of a page", R"({"limits":{"cpu":"1","hugepages-2Mi":"3Mi"}})",
       "Invalid f.limits[hugepages-2Mi]"},
      {"a page that has no size", R"({"limits":{"cpu":"1","hugepages-x":"1"}})",
       "Invalid f.limits[hugepages-x]"},
      {"fewer pages asked for than given",
       R"({"limits":{"cpu":"1","hugepages-2Mi":"4Mi"},"requests":{"hugepages-2Mi":"2Mi"}})",
       "Invalid f.requests"},
      {"claims of the pod", R"({"claims":[{"name":"a"},{"name":"b","request":"r"},
           {"name":"b","request":"s"}]})"},
      {"claims that are none", R"({"claims":[{"name":"c"},{},{"name":"a","request":"R"}]})",
       "NotFound f.claims[0], Required f.claims[1], Invalid f.claims[2].request"},
      {"claims twice",
       R"({"claims":[{"name":"a"},{"name":"a"},{"name":"b","request":"r"},
           {"name":"b","request":"r"},{"name":"b"}]})",
       "Duplicate f.claims[1], Duplicate f.claims[3], Duplicate f.claims[4]"}};
  CheckValueRows(rows, &CheckOfContainer);
}

TEST_CASE("groups: resources of a pod as a whole", "[groups]") {
  const auto check = [](runtime::Value spec, const field::Path& path, field::ErrorList& errors) {
    groups::core::CheckPodResources(spec, kClaims, path, errors);
  };
  const ValueRow rows[] = {
      {"none", R"({"containers":[{"resources":{"requests":{"cpu":"8"}}}]})"},
      {"more than the containers ask for",
       R"({"resources":{"requests":{"cpu":"10","memory":"10Mi"}},"containers":[
           {"resources":{"requests":{"cpu":"5","memory":"5Mi"}}},
           {"resources":{"requests":{"cpu":"4","memory":"3Mi"}}}]})"},
      {"less than the containers ask for",
       R"({"resources":{"requests":{"cpu":"8"}},"containers":[
           {"resources":{"requests":{"cpu":"5"}}},{"resources":{"requests":{"cpu":"4"}}}]})",
       "Invalid f.resources.requests[cpu]"},
      {"as much, with a container that stays beside",
       R"({"resources":{"requests":{"cpu":"6"}},"initContainers":[
           {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],"containers":[
           {"resources":{"requests":{"cpu":"4"}}}]})"},
      {"a container with a higher limit",
       R"({"resources":{"limits":{"cpu":"8"}},"containers":[
           {"resources":{"limits":{"cpu":"10"}}},{"resources":{"limits":{"cpu":"8"}}}]})",
       "Invalid f.resources.containers[0][cpu].limits"},
      {"limits that are more together than the pod's",
       R"({"resources":{"limits":{"cpu":"8"}},"containers":[
           {"resources":{"limits":{"cpu":"5"}}},{"resources":{"limits":{"cpu":"5"}}}]})"},
      {"a resource that pods do not have",
       R"({"resources":{"requests":{"ephemeral-storage":"1"}},"containers":[]})",
       "NotSupported f.resources.requests[ephemeral-storage]"},
      {"claims", R"({"resources":{"claims":[{"name":"a"}]},"containers":[]})",
       "Forbidden f.resources.claims"},
      {"on windows", R"({"os":{"name":"windows"},"resources":{"requests":{"cpu":"-1"}}})",
       "Forbidden f.resources"}};
  CheckValueRows(rows, check);
}

}  // namespace resource_rows_test
