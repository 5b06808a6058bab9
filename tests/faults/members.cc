#include "faults/members.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "apiserver/base/random.h"
#include "base/status_macros.h"
#include "faults/bare_etcd.h"
#include "faults/members_systems.h"
#include "faults/tcp_proxy.h"
#include "storage/etcd/etcd_server.h"

namespace apiserver::inline v0::faults {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Kind = MemberFault::Kind;

constexpr std::size_t kMembers = 3;
// For what must happen some time: a member that comes back, a watch that catches up.
constexpr seconds kPatience{60};
constexpr milliseconds kGlance{20};
constexpr seconds kProbe{2};

void Sleep(milliseconds time) { (void)Notification().WaitFor(time); }

TcpProxy::Mode ModeOf(Kind kind) {
  if (kind == Kind::kBlackhole) return TcpProxy::Mode::kBlackhole;
  if (kind == Kind::kDropAnswers) return TcpProxy::Mode::kDropAnswers;
  return TcpProxy::Mode::kRefuse;
}

const char* WordFor(Kind kind) {
  if (kind == Kind::kKill) return "killed";
  if (kind == Kind::kBlackhole) return "cut off";
  return kind == Kind::kDropAnswers ? "half cut off" : "refusing";
}

class Run {
 public:
  explicit Run(const MembersOptions& options) : options_(options) { report_.options = options; }

  MembersReport Go() {
    const auto began = steady_clock::now();
    Status status = Start();
    if (status.ok()) {
      BeginLoad();
      status = Faults();
      EndLoad();
      if (status.ok()) status = Settle();
      EndWatches(status.ok());
    }
    if (system_ != nullptr) system_->Stop();
    if (status.ok()) report_.verdict = Judge(history_);
    report_.broken = status.message();
    report_.failures = scores_.failures();
    report_.outages = scores_.outages();
    report_.took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
    return std::move(report_);
  }

 private:
  Status Start() {
    ASSIGN_OR_RETURN(server_, storage::etcd::EtcdServer::Start(kMembers));
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < kMembers; ++i) {
      proxies_[i] = std::make_unique<TcpProxy>(static_cast<std::uint16_t>(server_->port(i)));
      urls.push_back("http://127.0.0.1:" + std::to_string(proxies_[i]->port()));
      ASSIGN_OR_RETURN(direct_[i], BareEtcd::New(server_->urls()[i], kProbe));
    }
    RETURN_IF_ERROR(AllAnswer());
    ASSIGN_OR_RETURN(system_, options_.control ? NewBareSystem(urls) : NewOurSystem(urls));
    return Status::Ok();
  }

  // Waits until every member answers consistently, directly.
  Status AllAnswer() {
    const auto deadline = steady_clock::now() + kPatience;
    for (std::size_t i = 0; i < kMembers; ++i) {
      for (;;) {
        const auto revision = direct_[i]->CurrentRevision();
        if (revision.ok()) break;
        if (steady_clock::now() > deadline) return revision.status();
        Sleep(kGlance);
      }
    }
    return Status::Ok();
  }

  void BeginLoad() {
    for (auto& [options, open] : system_->Watches()) {
      watches_.push_back(std::make_unique<WatchClient>(options, std::move(open), scores_));
    }
    history_.writers.resize(options_.writers);
    // All of them before the first thread, which finds its own in the vector.
    for (std::size_t i = 0; i < options_.writers; ++i) targets_.push_back(system_->NewWriter(i));
    for (std::size_t i = 0; i < options_.writers; ++i) {
      clients_.emplace_back("writer", [this, i] {
        history_.writers[i] =
            WriteUntil(stop_, *targets_[i], scores_, {.seed = options_.seed, .writer = i});
      });
    }
    clients_.emplace_back("reader", [this] { ReadLists(); });
  }

  void ReadLists() {
    while (!stop_.WaitFor(kGlance)) {
      const Revision before = scores_.last_revision();
      const auto revision = system_->List();
      if (revision.ok()) {
        ++history_.lists;
        if (*revision < before) ++history_.stale_lists;
      } else if (revision.status().reason() == Reason::kMethodNotAllowed) {
        return;
      } else {
        scores_.Failed("list", revision.status());
      }
    }
  }

  Status Faults() {
    std::size_t round = 0;
    const auto first = steady_clock::now();
    for (const MemberFault& fault : PlanFaults(options_)) {
      const auto began = steady_clock::now();
      if (options_.time_max.count() > 0 && began >= first + options_.time_max) break;
      const std::size_t before = scores_.acknowledged();
      RETURN_IF_ERROR(Inflict(fault));
      RETURN_IF_ERROR(AllAnswer());
      const auto back = steady_clock::now();
      const auto worked = [&] {
        return scores_.acknowledged() >= before + options_.round_writes_min;
      };
      while (steady_clock::now() < began + options_.period || !worked()) {
        if (steady_clock::now() > back + kPatience) {
          return {Reason::kTimeout, "nothing is written although all members are there"};
        }
        Sleep(kGlance);
      }
      ++round;
      if (!options_.verbose) continue;
      const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
      std::printf("round %zu: member %zu %s, %zu writes acknowledged in %lld ms\n", round,
                  fault.member, WordFor(fault.kind), scores_.acknowledged() - before,
                  static_cast<long long>(took.count()));
      std::fflush(stdout);
    }
    return Status::Ok();
  }

  // Until the member is there again.
  Status Inflict(const MemberFault& fault) {
    if (fault.kind != Kind::kKill) {
      ++report_.partitions;
      proxies_[fault.member]->Set(ModeOf(fault.kind));
      Sleep(fault.lasts);
      proxies_[fault.member]->Set(TcpProxy::Mode::kPass);
      return Status::Ok();
    }
    ++report_.kills;
    server_->Kill(fault.member);
    Sleep(fault.lasts);
    return server_->Restart(fault.member);
  }

  void EndLoad() {
    scores_.EndOfWrites();
    stop_.Notify();
    for (Thread& client : clients_) client.Join();
  }

  // Asks every member what has happened.
  Status Settle() {
    RETURN_IF_ERROR(AllAnswer());
    ASSIGN_OR_RETURN(const Revision last, direct_[0]->CurrentRevision());
    const std::string prefix = std::string(kMembersPrefix) + "/";
    for (std::size_t i = 0; i < kMembers; ++i) {
      ASSIGN_OR_RETURN(MemberView view, direct_[i]->View(prefix, last));
      history_.members.push_back(std::move(view));
    }
    return Status::Ok();
  }

  void EndWatches(bool settled) {
    for (const auto& watch : watches_) {
      Revision last = 0;
      if (settled) {
        for (const Change& change : history_.members[0].log) {
          if (change.key.starts_with(watch->prefix())) last = change.revision;
        }
      }
      history_.watches.push_back(watch->Finish(last, kPatience / 4));
    }
  }

  const MembersOptions options_;
  MembersReport report_;
  MembersHistory history_;
  Scoreboard scores_;
  Notification stop_;
  std::unique_ptr<storage::etcd::EtcdServer> server_;
  std::array<std::unique_ptr<TcpProxy>, kMembers> proxies_;
  std::array<std::unique_ptr<BareEtcd>, kMembers> direct_;
  std::unique_ptr<MembersSystem> system_;
  std::vector<std::unique_ptr<WriteTarget>> targets_;
  std::vector<std::unique_ptr<WatchClient>> watches_;
  std::vector<Thread> clients_;
};

// Lines of two columns.
class Table {
 public:
  void Row(const std::string& name, const std::string& value) {
    text_ += "  " + name + std::string(name.size() < 34 ? 34 - name.size() : 1, ' ') + value + "\n";
  }
  void Row(const std::string& name, std::size_t value) { Row(name, std::to_string(value)); }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

void AddVerdict(const MembersVerdict& verdict, Table& table) {
  table.Row("writes acknowledged", verdict.acknowledged);
  table.Row("  refused", verdict.refused);
  table.Row("  of unknown outcome", std::to_string(verdict.unknown) + ", of which " +
                                        std::to_string(verdict.unknown_happened) + " happened");
  table.Row("acknowledged writes lost", verdict.lost);
  table.Row("writes nobody made, or made twice", verdict.strange);
  table.Row("acknowledged out of order", verdict.disordered);
  table.Row("members that disagree", verdict.disagreeing);
  table.Row("consistent lists", std::to_string(verdict.lists) + ", of which " +
                                    std::to_string(verdict.stale_lists) + " stale");
  for (const WatchVerdict& watch : verdict.watches) {
    table.Row("watch: " + watch.name,
              std::to_string(watch.events) + " events, gaps " + std::to_string(watch.gaps) +
                  ", duplicates " + std::to_string(watch.duplicates) + ", out of order " +
                  std::to_string(watch.disordered) + ", wrong " + std::to_string(watch.wrong) +
                  ", opened again " + std::to_string(watch.resumes));
  }
}

void AddOutages(const std::vector<milliseconds>& outages, Table& table) {
  if (outages.empty()) {
    table.Row("times without a write > 250 ms", "none");
    return;
  }
  table.Row("times without a write > 250 ms",
            std::to_string(outages.size()) + ", median " +
                std::to_string(outages[outages.size() / 2].count()) + " ms, longest " +
                std::to_string(outages.back().count()) + " ms");
}

}  // namespace

std::vector<MemberFault> PlanFaults(const MembersOptions& options) {
  const auto random = NewSeededRandom(options.seed);
  std::array<std::size_t, kMembers> order{0, 1, 2};
  std::vector<MemberFault> faults;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    const std::size_t turn = round % kMembers;
    // The rest of the order is shuffled as it is used.
    if (turn + 1 < kMembers) std::swap(order[turn], order[turn + random->Below(kMembers - turn)]);
    MemberFault fault;
    fault.member = order[turn];
    fault.lasts = options.down + milliseconds(random->Below(1000));
    const std::uint64_t dice = random->Below(18);
    if (options.partitions && dice < 3) fault.kind = static_cast<Kind>(dice + 1);
    faults.push_back(fault);
  }
  return faults;
}

std::string MembersReport::ToString() const {
  Table table;
  table.Row("members killed", kills);
  table.Row("members cut off", partitions);
  AddVerdict(verdict, table);
  AddOutages(outages, table);
  for (const auto& [what, entry] : failures) {
    table.Row("failed: " + what, std::to_string(entry.count) + ", \"" + entry.example + "\"");
  }
  std::string text = std::string("etcd-members ") + (options.control ? "control" : "engine") +
                     ": seed " + std::to_string(options.seed) + ", " +
                     std::to_string(kills + partitions) + " of " + std::to_string(options.rounds) +
                     " rounds, " + std::to_string(took.count() / 1000) + " s\n" + table.text();
  if (!broken.empty()) return text + "broken: " + broken + "\n";
  text += std::to_string(verdict.violations()) + " violations\n";
  if (!verdict.first_violation.empty()) text += "first: " + verdict.first_violation + "\n";
  return text;
}

MembersReport RunMembers(const MembersOptions& options) { return Run(options).Go(); }

}  // namespace apiserver::inline v0::faults
