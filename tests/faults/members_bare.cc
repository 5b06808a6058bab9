#include <utility>

#include "base/status_macros.h"
#include "faults/bare_etcd.h"
#include "faults/members_systems.h"

namespace apiserver::inline v0::faults {
namespace {

using std::chrono::milliseconds;

// As etcdctl's.
constexpr milliseconds kTimeout{5000};

// About as long as what our store writes.
std::string TextOf(std::int64_t value) {
  return "{\"spec\":{\"size\":" + std::to_string(value) + "},\"pad\":\"" + std::string(150, 'x') +
         "\"}";
}

class BareWriter final : public WriteTarget {
 public:
  explicit BareWriter(BareEtcd& client) : client_(client) {}

  Result<Revision> Create(const std::string& key, std::int64_t value) override {
    return client_.Put(Full(key), TextOf(value));
  }
  Result<Revision> Update(const std::string& key, std::int64_t value) override {
    return client_.Put(Full(key), TextOf(value));
  }
  Result<Revision> Delete(const std::string& key) override { return client_.Delete(Full(key)); }

 private:
  static std::string Full(const std::string& key) {
    return std::string(kMembersPrefix) + "/" + key;
  }

  BareEtcd& client_;
};

class BareSource final : public WatchSource {
 public:
  BareSource(BareEtcd& client, Revision from, std::string prefix)
      : prefix_(std::move(prefix)),
        watch_(client.rpc(), std::string(kMembersPrefix) + "/" + prefix_, from) {}

  Status Next(std::vector<Change>& changes, milliseconds patience) override {
    const std::size_t before = changes.size();
    const bool goes_on = watch_.Next(changes, patience);
    for (std::size_t i = before; i < changes.size(); ++i) changes[i].key.insert(0, prefix_);
    return goes_on ? Status::Ok() : Status(Reason::kServiceUnavailable, "the stream has ended");
  }

 private:
  const std::string prefix_;
  BareWatch watch_;
};

class BareSystem final : public MembersSystem {
 public:
  explicit BareSystem(std::vector<std::unique_ptr<BareEtcd>> clients)
      : clients_(std::move(clients)) {}

  std::unique_ptr<WriteTarget> NewWriter(std::size_t writer) override {
    return std::make_unique<BareWriter>(*clients_[writer % clients_.size()]);
  }

  std::vector<Watch> Watches() override {
    std::vector<Watch> watches;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      const std::string member = "member " + std::to_string(i);
      watches.push_back({{.name = member + ", from now on", .resumes_where_it_was = false},
                         Open(*clients_[i], "")});
      watches.push_back({{.name = member + ", resuming"}, Open(*clients_[i], "")});
    }
    return watches;
  }

  Result<Revision> List() override { return Status(Reason::kMethodNotAllowed, "no lists"); }
  void Stop() override {}

 private:
  static OpenWatch Open(BareEtcd& client, const std::string& prefix) {
    return [&client, prefix](Revision from) -> Result<std::unique_ptr<WatchSource>> {
      return std::make_unique<BareSource>(client, from, prefix);
    };
  }

  const std::vector<std::unique_ptr<BareEtcd>> clients_;
};

}  // namespace

Result<std::unique_ptr<MembersSystem>> NewBareSystem(const std::vector<std::string>& urls) {
  std::vector<std::unique_ptr<BareEtcd>> clients;
  for (const std::string& url : urls) {
    ASSIGN_OR_RETURN(auto client, BareEtcd::New(url, kTimeout));
    clients.push_back(std::move(client));
  }
  return std::make_unique<BareSystem>(std::move(clients));
}

}  // namespace apiserver::inline v0::faults
