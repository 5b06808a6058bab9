#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "runtime/schema_block.h"
#include "text/json_string.h"

namespace apiserver::v0::runtime {

// The schemas in the order in which they were made, parts before wholes, and an open hash table of
// their places.
class SchemaPool::State {
 public:
  void ReadFrom(std::shared_ptr<const std::string> source) {
    places_.clear();
    behind_ = 0;
    source_ = source == nullptr ? Counted<SchemaSource>()
                                : Counted<SchemaSource>(new SchemaSource(std::move(source)));
  }

  // A text that is there twice is found in one place, or schemas that say the same would differ.
  SourceText Find(std::string_view text) {
    if (source_.get() == nullptr || text.empty()) return {};
    const SourceText found = Locate(text, *source_.get()->bytes);
    if (found.size == 0) return {};
    behind_ = found.at + found.size;
    return places_.try_emplace(std::string(text), found).first->second;
  }

  SchemaPtr Make(const SchemaParts& parts) {
    if (made_.size() * 2 >= table_.size()) Grow();
    SchemaPtr made = SchemaBlock(parts, source_, PatternOf(parts.constraints.pattern)).Make();
    const std::uint32_t hash = SchemaBlock::Hash(*made);
    std::uint32_t& place = table_[PlaceOf(*made, hash)];
    if (place != 0) return made_[place - 1].schema;
    made_.push_back({made, hash});
    place = static_cast<std::uint32_t>(made_.size());
    return made;
  }

  std::size_t size() const { return made_.size(); }

  void Sweep() {
    // Backwards, since schemas follow their parts: dropping one may make its parts unshared.
    for (std::size_t i = made_.size(); i-- > 0;) {
      if (!SchemaBlock::IsShared(*made_[i].schema)) made_[i].schema.reset();
    }
    std::erase_if(made_, [](const Made& made) { return made.schema == nullptr; });
    std::erase_if(patterns_, [](const auto& pattern) { return !pattern.second.shared(); });
    Index();
  }

 private:
  static constexpr std::size_t kTableMin = 64;
  static constexpr std::size_t kSourceBytesMax = (1U << 30U) - 1;
  // How far a text that is not found is looked for; it is copied then.
  static constexpr std::size_t kSearchBytesMax = 16 << 10;

  struct Made {
    SchemaPtr schema;
    std::uint32_t hash;
  };

  // The place of the schema that equals `schema`, or a free one.
  std::size_t PlaceOf(const Schema& schema, std::uint32_t hash) const {
    for (std::size_t at = hash;; ++at) {
      const std::uint32_t place = table_[at & (table_.size() - 1)];
      if (place == 0) return at & (table_.size() - 1);
      const Made& made = made_[place - 1];
      if (made.hash == hash && SchemaBlock::Equal(*made.schema, schema)) {
        return at & (table_.size() - 1);
      }
    }
  }

  // Sweeps first, so that the table does not grow for schemas that are no longer used.
  void Grow() {
    Sweep();
    table_.assign(std::bit_ceil(std::max(kTableMin, made_.size() * 4)), 0);
    Index();
  }

  void Index() {
    std::ranges::fill(table_, 0);
    for (std::size_t i = 0; i < made_.size(); ++i) {
      table_[PlaceOf(*made_[i].schema, made_[i].hash)] = static_cast<std::uint32_t>(i + 1);
    }
  }

  SourceText Locate(std::string_view text, std::string_view bytes) const {
    const char* const end = bytes.data() + bytes.size();
    const std::less<> before;
    std::size_t at = 0;
    bool escaped = false;
    std::size_t size = text.size();
    if (!before(text.data(), bytes.data()) && before(text.data(), end)) {
      at = static_cast<std::size_t>(text.data() - bytes.data());
    } else {
      const std::string wanted = text::EscapeJson(text);
      size = wanted.size();
      escaped = true;
      const std::size_t from = std::min<std::size_t>(behind_, bytes.size());
      at = bytes.substr(from, kSearchBytesMax + size).find(wanted);
      if (at == std::string_view::npos) return {};
      at += from;
    }
    if (size > bytes.size() - at || at > kSourceBytesMax) return {};
    return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size), escaped};
  }

  Counted<Pattern> PatternOf(const std::string& text) {
    if (text.empty()) return {};
    const auto found = patterns_.find(text);
    if (found != patterns_.end()) return found->second;
    Counted<Pattern> made(new Pattern(text));
    // The key is the pattern's own text.
    return patterns_.emplace(made.get()->text(), std::move(made)).first->second;
  }

  Counted<SchemaSource> source_;
  std::size_t behind_ = 0;  // End of the text that Find() found last.
  std::unordered_map<std::string, SourceText> places_;
  std::map<std::string_view, Counted<Pattern>> patterns_;
  std::vector<Made> made_;
  std::vector<std::uint32_t> table_;  // 0: free; else the place in `made_`, from 1.
};

SchemaPool::SchemaPool() : state_(std::make_unique<State>()) {}
SchemaPool::SchemaPool(SchemaPool&&) noexcept = default;
SchemaPool& SchemaPool::operator=(SchemaPool&&) noexcept = default;
SchemaPool::~SchemaPool() = default;

void SchemaPool::ReadFrom(std::shared_ptr<const std::string> source) {
  state_->ReadFrom(std::move(source));
}

SourceText SchemaPool::Find(std::string_view text) { return state_->Find(text); }

SchemaPtr SchemaPool::Make(const SchemaParts& parts) { return state_->Make(parts); }

std::size_t SchemaPool::size() const { return state_->size(); }

void SchemaPool::Sweep() { state_->Sweep(); }

SchemaPtr MakeSchema(const SchemaParts& parts) {
  const std::string& text = parts.constraints.pattern;
  return SchemaBlock(parts, {}, text.empty() ? Counted<Pattern>() : Counted(new Pattern(text)))
      .Make();
}

}  // namespace apiserver::v0::runtime
