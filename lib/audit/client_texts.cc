#include "audit/client_texts.h"

#include <functional>

namespace apiserver::v0::audit {

bool ClientTexts::Client::Sent(const Event& event) const {
  return user == event.user && source_ips == event.source_ips && user_agent == event.user_agent;
}

void ClientTexts::Client::Remember(const Event& event, std::string_view members) {
  if (met != event.user.get() || members.size() > kTextBytesMax) {
    met = event.user.get();
    return;
  }
  user = event.user;
  source_ips = event.source_ips;
  user_agent = event.user_agent;
  text = members;
}

// The places of one user's clients differ by the lengths of their agents and addresses, which is
// enough for the few programs that one user runs at a time.
Guarded<ClientTexts::Client>& ClientTexts::PlaceFor(const Event& event) {
  constexpr std::size_t kLine = 64;  // Users lie in memory of their own.
  std::size_t place = std::hash<const void*>()(event.user.get()) / kLine + event.user_agent.size();
  for (const std::string& ip : event.source_ips) place += ip.size();
  return places_[place % kPlaces];
}

}  // namespace apiserver::v0::audit
