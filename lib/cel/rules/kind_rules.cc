#include "apiserver/cel/kind_rules.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"

namespace apiserver::v0::cel {
namespace {

bool HasRules(const runtime::KindVersion& version) {
  return version.schema != nullptr && version.schema->has_rules();
}

}  // namespace

class KindRules::State {
 public:
  explicit State(runtime::KindPtr kind) : kind_(std::move(kind)) {
    compiled_.Lock()->resize(kind_->versions().size());
  }

  RuleFindings Validate(const Context& context, const runtime::Object& object,
                        const runtime::Object* old) {
    const runtime::KindVersion* const version = kind_->FindVersion(object.version());
    if (version == nullptr || !HasRules(*version)) return {};
    const RuleSet rules = RulesOf(*version);
    const std::string api_version = kind_->gvk(version->version).group_version().ToString();
    const runtime::Value before = old == nullptr ? runtime::Value() : old->root();
    const RuleSubject subject = {.object = object.root(),
                                 .old = old == nullptr ? nullptr : &before,
                                 .ratchet = old != nullptr,
                                 .api_version = api_version,
                                 .kind = kind_->kind()};
    std::unique_ptr<Scratch> scratch = TakeScratch();
    RuleFindings findings = rules.Validate(subject, Budget{}, *scratch, context);
    GiveBack(std::move(scratch));
    return findings;
  }

 private:
  // Memory that one large object needed is not kept.
  static constexpr std::size_t kKeptBytesMax = std::size_t{1} << 20;
  static constexpr std::size_t kKeptMax = 16;

  // Writers of a version that is compiled just now wait for it.
  RuleSet RulesOf(const runtime::KindVersion& version) {
    const auto index = static_cast<std::size_t>(&version - kind_->versions().data());
    auto compiled = compiled_.Lock();
    std::optional<RuleSet>& rules = (*compiled)[index];
    if (!rules) {
      rules = RuleSet::Compile(version.schema, true, Environment::Kubernetes({}, Mode::kStored));
    }
    return *rules;
  }

  std::unique_ptr<Scratch> TakeScratch() {
    auto free = free_.Lock();
    if (free->empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> taken = std::move(free->back());
    free->pop_back();
    return taken;
  }
  void GiveBack(std::unique_ptr<Scratch> scratch) {
    scratch->Reset();
    auto free = free_.Lock();
    const bool keep = scratch->arena().bytes_reserved() <= kKeptBytesMax;
    if (keep && free->size() < kKeptMax) free->push_back(std::move(scratch));
  }

  const runtime::KindPtr kind_;
  Guarded<std::vector<std::optional<RuleSet>>> compiled_;  // By version.
  Guarded<std::vector<std::unique_ptr<Scratch>>> free_;
};

KindRules::KindRules(runtime::KindPtr kind) {
  const auto& versions = kind->versions();
  if (std::any_of(versions.begin(), versions.end(), HasRules)) {
    state_ = std::make_unique<State>(std::move(kind));
  }
}

KindRules::~KindRules() = default;

bool KindRules::empty() const { return state_ == nullptr; }

RuleFindings KindRules::Validate(const Context& context, const runtime::Object& object,
                                 const runtime::Object* old) const {
  return state_ == nullptr ? RuleFindings() : state_->Validate(context, object, old);
}

}  // namespace apiserver::v0::cel
