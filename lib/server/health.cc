#include "server/health.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::server {

namespace {

// As Go's health handlers, plain text without sniffing.
http::Step Text(http::Exchange& exchange, int code, std::string text) {
  exchange.writer().Send({.code = code,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                      {"X-Content-Type-Options", "nosniff"}}},
                         http::Bytes(std::move(text)));
  return http::Step::Done();
}

std::string QuotedList(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ",";
    list += field::Quote(name);
  }
  return list;
}

// Returns the name in `exclude` that keeps a check from being run: its own or its group's. Empty:
// none.
std::string_view ExcludedBy(const Health::Check& check,
                            const std::vector<std::string_view>& exclude) {
  const auto excluded = [&exclude](const std::string& name) {
    return std::find(exclude.begin(), exclude.end(), name) != exclude.end();
  };
  if (excluded(check.name)) return check.name;
  return !check.group.empty() && excluded(check.group) ? check.group : std::string_view();
}

}  // namespace

// The checks of one request, while they run.
struct Health::Round {
  Outcomes outcomes;
  std::size_t missing = 0;
  UniqueFunction<void(Outcomes)> done;
};

// Every set has the check "ping", as upstream.
Health::Health(std::string name, LogSink& log, metrics::Registry* slis)
    : name_(std::move(name)), log_(log) {
  const auto ping = std::make_shared<HealthProbe>([](const Context&) { return Status(); },
                                                  HealthProbe::Options{});
  *checks_.Lock() = std::make_shared<const Checks>(Checks{{"ping", ping}});
  if (slis == nullptr) return;
  result_ = &slis->Gauges({.name = "kubernetes_healthcheck",
                           .help = "[STABLE] This metric records the result of a single "
                                   "healthcheck.",
                           .labels = {"name", "type"}});
  results_ = &slis->Counters({.name = "kubernetes_healthchecks_total",
                              .help = "[STABLE] This metric records the results of all "
                                      "healthcheck.",
                              .labels = {"name", "type", "status"}});
}

// Excluded checks are not counted.
void Health::Observe(const Check& check, bool passed) const {
  if (result_ == nullptr) return;
  result_->With({check.name, name_}).Set(passed ? 1 : 0);
  results_->With({check.name, name_, passed ? "success" : "error"}).Add();
}

Status Health::Add(Check check) {
  auto checks = checks_.Lock();
  for (const Check& existing : **checks) {
    if (existing.name == check.name) {
      return {Reason::kConflict, "there is a health check " + check.name + " already"};
    }
  }
  // Copied, so that a running request keeps the list that it began with.
  auto next = std::make_shared<Checks>(**checks);
  next->push_back(std::move(check));
  *checks = std::move(next);
  return {};
}

// Asks all at once and calls `done` with all outcomes, on the thread of the last. Checks that block
// run on the pool; see HealthProbe.
void Health::Ask(const Checks& checks, const std::function<bool(const Check&)>& asked,
                 UniqueFunction<void(Outcomes)> done) {
  // One more than there are checks, so that `done` is not called before the last was asked.
  const auto round = std::make_shared<Guarded<Round>>(
      Round{Outcomes(checks.size()), checks.size() + 1, std::move(done)});
  const auto told = [round](std::optional<std::size_t> at, const Status& outcome) {
    Round over;
    {
      auto locked = round->Lock();
      if (at) locked->outcomes[*at] = outcome;
      if (--locked->missing > 0) return;
      over = std::move(*locked);
    }
    over.done(std::move(over.outcomes));
  };
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    if (!asked(check)) {
      told(std::nullopt, {});
    } else if (check.in_grace && check.in_grace()) {
      told(i, {});
    } else {
      check.probe->Ask([told, i](const Status& outcome) { told(i, outcome); });
    }
  }
  told(std::nullopt, {});
}

// Blocks, so it is not for a loop.
bool Health::Passes() const {
  const auto passed = std::make_shared<Guarded<std::optional<bool>>>();
  const auto every = [](const Check&) { return true; };
  Ask(*Snapshot(), every, [passed](const Outcomes& outcomes) {
    *passed->Lock() = std::all_of(outcomes.begin(), outcomes.end(),
                                  [](const auto& outcome) { return outcome->ok(); });
    passed->NotifyAll();
  });
  // The checks end on the pool, so a loop that waited here could wait for itself.
  auto known = passed->Lock();
  known.Wait([&known] { return known->has_value(); });
  return **known;
}

std::vector<std::string> Health::CheckNames() const {
  std::vector<std::string> names;
  const auto checks = Snapshot();
  for (const Check& check : *checks) names.push_back(check.name);
  return names;
}

// nullopt: there is no such check.
std::optional<http::Step> Health::Serve(http::Exchange& exchange) const {
  const std::string_view path = exchange.request().path;
  const std::size_t prefix = name_.size() + 1;  // "/healthz"
  if (path.size() <= prefix) return All(exchange);
  return One(exchange, path.substr(prefix + 1));
}

// The request holds no thread while the checks run.
http::Step Health::All(http::Exchange& exchange) const {
  return http::Step::Later([this, &exchange](http::Resume resume) {
    const auto checks = Snapshot();
    const auto exclude = exchange.query().GetAll("exclude");
    const auto asked = [&exclude](const Check& each) { return ExcludedBy(each, exclude).empty(); };
    Ask(*checks, asked,
        [this, &exchange, checks, resume = std::move(resume)](Outcomes outcomes) mutable {
          resume.OnLoop([this, &exchange, checks, outcomes = std::move(outcomes)] {
            return Report(exchange, *checks, outcomes);
          });
        });
  });
}

// Follows handleRootHealth of apiserver/server/healthz.
http::Step Health::Report(http::Exchange& exchange, const Checks& checks,
                          const Outcomes& outcomes) const {
  const std::vector<std::string_view> exclude = exchange.query().GetAll("exclude");
  std::vector<std::string> unknown(exclude.begin(), exclude.end());
  std::string lines;
  std::string failed;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    if (!outcomes[i]) {
      const std::string_view by = ExcludedBy(check, exclude);
      std::erase(unknown, by);
      lines += "[+]" + check.name + " excluded";
      if (by != check.name) lines += " with " + check.group;
      lines += ": ok\n";
      continue;
    }
    Observe(check, outcomes[i]->ok());
    if (outcomes[i]->ok()) {
      lines += "[+]" + check.name + " ok\n";
      continue;
    }
    // The reason goes to the log: the client may not be allowed to know it.
    lines += "[-]" + check.name + " failed: reason withheld\n";
    if (!failed.empty()) failed += ",";
    failed += check.name;
    Log(log_, LogLevel::kWarning, name_ + " check failed",
        {{"check", check.name}, {"error", outcomes[i]->ToString()}});
  }
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  if (!unknown.empty()) {
    lines +=
        "warn: some health checks cannot be excluded: no matches for " + QuotedList(unknown) + "\n";
  }
  // Upstream's texts and codes: probes look at the code, people read the lines.
  if (!failed.empty()) return Text(exchange, 500, lines + name_ + " check failed\n");
  if (passed_) passed_();
  if (!exchange.query().Has("verbose")) return Text(exchange, 200, "ok");
  return Text(exchange, 200, lines + name_ + " check passed\n");
}

// `checks` is kept by the callbacks: the list may be replaced meanwhile.
std::optional<http::Step> Health::One(http::Exchange& exchange, std::string_view check_name) const {
  const auto checks = Snapshot();
  const auto found = std::find_if(checks->begin(), checks->end(), [check_name](const Check& check) {
    return check.name == check_name;
  });
  if (found == checks->end()) return std::nullopt;
  return http::Step::Later([&exchange, checks, &check = *found](http::Resume resume) {
    const auto asked = [&check](const Check& each) { return &each == &check; };
    const auto at = static_cast<std::size_t>(&check - checks->data());
    Ask(*checks, asked, [&exchange, at, resume = std::move(resume)](Outcomes outcomes) mutable {
      resume.OnLoop([&exchange, outcome = *outcomes[at]] {
        if (outcome.ok()) return Text(exchange, 200, "ok");
        return Text(exchange, 500,
                    "internal server error: " + std::string(outcome.message()) + "\n");
      });
    });
  });
}

}  // namespace apiserver::v0::server
