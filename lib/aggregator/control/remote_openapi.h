#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/control/backend.h"
#include "aggregator/kind/facts.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/controller/controller.h"
#include "apiserver/openapi/foreign.h"

namespace apiserver::inline v0::aggregator {

// The URLs of documents of OpenAPI v3, by path: "apis/<group>/<version>".
using DocumentUrls = std::map<std::string, std::string>;

// A document of v3 that was made of one of v2.
using ConvertedPtr = std::shared_ptr<const openapi::Document>;

// Reads "/openapi/v3" of the extension server of an APIService: the documents of its group version
// and of its group. A URL that leads elsewhere, or is too long, becomes that of its path. kInvalid:
// it is no such index. Takes time and memory linear in the size.
Result<DocumentUrls> ReadV3Index(std::string_view json, const Facts& facts);

// Asks extension servers for their OpenAPI: the AggregationControllers of openapi and openapiv3 of
// k8s.io/kube-aggregator. What a server has told is kept while it does not answer. Any thread.
class RemoteOpenApi {
 public:
  struct Needs {
    Executor* pool = nullptr;  // Must outlive this.
    LogSink* log = nullptr;
    std::shared_ptr<const Backend> backend;
    // Returns the present state of an APIService. nullopt: it does not exist.
    std::function<std::optional<Facts>(const std::string& name)> find;
    // Takes the documents of v3 of a remote APIService.
    std::function<void(const std::string& name, DocumentUrls urls)> show_v3;
    // Takes its document of v2. Null: it has none.
    std::function<void(const std::string& name, openapi::ForeignV2Ptr document)> show_v2;
    // Takes a document of v3 that was made of that of v2. Null: the server has v3 itself.
    std::function<void(const std::string& name, ConvertedPtr document)> show_converted;
    std::shared_ptr<metrics::Registry> metrics = nullptr;  // Null: nothing is counted.
  };
  explicit RemoteOpenApi(Needs needs);
  ~RemoteOpenApi() { Stop(); }

  // Asks the server of an APIService soon.
  void Add(const std::string& name) { controller_->queue().Add({"", name}); }
  // Ends all work and waits for what is running. Idempotent.
  void Stop();

 private:
  // The last answers of an APIService's server.
  struct Told {
    std::string service;
    std::string v3_etag;
    DocumentUrls v3;
    std::string v2_etag;
    openapi::ForeignV2Ptr v2;
    bool has_v3 = false;
    ConvertedPtr converted;  // What v2 says in the form of v3, if the server has none.
  };

  Status Sync(const std::string& name);
  // Returns what the server has told before, empty if the APIService has another one now.
  Told LastOf(const Facts& facts) const;
  // Ask the server, and put its answer into `told`.
  Status FetchV3(const Facts& facts, Told& told) const;
  Status FetchV2(const Facts& facts, Told& told) const;

  const Needs needs_;
  const Context ctx_;                          // Cancelled by Stop().
  Guarded<std::map<std::string, Told>> told_;  // By APIService.
  const std::unique_ptr<controller::Controller> controller_;
};

}  // namespace apiserver::inline v0::aggregator
