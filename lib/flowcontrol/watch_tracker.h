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
  // The subject of a watch: watches of the same subject are counted together.
  struct Subject {
    std::string group;
    std::string resource;
    std::string namespace_;
    std::string name;
  };

  // Counts a watch; pass the result to ForgetWatch, until which it is valid. Null: it is not
  // counted, being no watch, or one that an index serves (pods of one spec.nodeName).
  const Subject* RegisterWatch(const request::RequestInfo& info, const http::Query& query);
  // Does nothing for null.
  void ForgetWatch(const Subject* subject);

  // Returns how many watches may be told of a write; 0 for requests that only read.
  int InterestedWatchCount(const request::RequestInfo& info) const;
  // Returns the number of different subjects that are watched.
  std::size_t size() const { return counts_.Lock()->size(); }

 private:
  using View = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    static View Of(const View& view) { return view; }
    static View Of(const Subject& of) { return {of.group, of.resource, of.namespace_, of.name}; }
    bool operator()(const auto& a, const auto& b) const { return Of(a) < Of(b); }
  };
  // A watch keeps the address of its subject.
  Guarded<std::map<Subject, int, Less>> counts_;
};

}  // namespace apiserver::inline v0::flowcontrol
