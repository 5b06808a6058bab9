#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/audit/event.h"
#include "apiserver/base/sync.h"
#include "text/json_sink.h"

namespace apiserver::inline v0::audit {

// Keeps the JSON of those members of events that tell who has sent a request and from where: user,
// sourceIPs and userAgent. A client repeats them with each request, and they are a third of a line.
// Bounded: a client takes the place of another one. Any thread.
class ClientTexts final {
 public:
  // Puts the members of the client of `event`, with a comma before each. `put` puts them where they
  // are not kept.
  template <class Put>
  void PutMembers(const Event& event, text::JsonSink& sink, const Put& put) {
    // An impersonated user stands between the others and is rare.
    if (!event.user || event.impersonated_user || !event.impersonation_constraint.empty()) {
      return put();
    }
    auto client = PlaceFor(event).Lock();
    if (client->Sent(event)) return sink.Put(client->text);
    const std::size_t begin = sink.Place();
    put();
    client->Remember(event, sink.TextSince(begin));
  }

 private:
  struct Client {
    bool Sent(const Event& event) const;
    // Keeps the text from the second request of a user on: one that comes once is not worth a copy.
    void Remember(const Event& event, std::string_view members);

    auth::UserInfoPtr user;  // Keeps the user alive, so that its address is its own.
    std::vector<std::string> source_ips;
    std::string user_agent;
    std::string text;
    const void* met = nullptr;  // The user of the last request that was not kept; never followed.
  };
  static constexpr std::size_t kPlaces = 32;
  // Longer ones are not kept.
  static constexpr std::size_t kTextBytesMax = 2048;

  Guarded<Client>& PlaceFor(const Event& event);

  std::array<Guarded<Client>, kPlaces> places_;
};

}  // namespace apiserver::inline v0::audit
