#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "apiserver/base/sync.h"
#include "apiserver/http/message.h"
#include "apiserver/request/request_info.h"

namespace apiserver::inline v0::flowcontrol {

// Counts the running watches by their subject, so that the cost of a write includes the watches it
// has to tell. k8s.io/apiserver/pkg/util/flowcontrol.WatchTracker. Any thread.
class WatchTracker final {
 public:
  // The key that one watch is counted under; `counted` is false if it is not.
  struct Key {
    std::string group;
    std::string resource;
    std::string namespace_;
    std::string name;
    bool counted = false;
  };

  // Counts a watch; pass the result to ForgetWatch. Not counted: requests that are no watches, and
  // watches that an index serves (pods of one spec.nodeName).
  Key RegisterWatch(const request::RequestInfo& info, const http::Query& query);
  void ForgetWatch(const Key& key);

  // Returns how many watches may be told of a write; 0 for requests that only read.
  int InterestedWatchCount(const request::RequestInfo& info) const;
  // Returns the number of different subjects that are watched.
  std::size_t size() const { return counts_.Lock()->size(); }

 private:
  using Id = std::tuple<std::string, std::string, std::string, std::string>;
  using View = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return View(a) < View(b); }
  };
  Guarded<std::map<Id, int, Less>> counts_;
};

}  // namespace apiserver::inline v0::flowcontrol
