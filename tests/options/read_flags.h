#pragma once

#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/options/flag_set.h"

namespace apiserver::inline v0::testing {

// A set of flags with the least parser that can be: name, text, name, text. A switch takes "true"
// or "false". Ranges and choices are kept for tests to look at.
class ReadFlags final : public options::FlagSet {
 public:
  options::FlagPtr Add(options::FlagSpec spec) override {
    auto flag = std::make_shared<options::Flag>(options::Flag{.name = spec.name});
    flags_.push_back({.spec = std::move(spec), .flag = flag, .texts = {}, .section = section_});
    return flag;
  }
  void BeginSection(std::string_view title) override { section_ = title; }

  using Words = std::vector<std::pair<std::string, std::string>>;
  // "--flag: what is wrong"; empty: nothing.
  std::string Read(const Words& words) {
    for (const auto& [name, text] : words) {
      Known* known = Find(name);
      if (known == nullptr) return name + ": unknown";
      known->flag->given = true;
      known->texts.push_back(text);
    }
    for (Known& known : flags_) {
      if (!known.flag->given) continue;
      const Status read =
          std::visit([&](const auto& to) { return Set(known, to); }, known.spec.value);
      if (!read.ok()) return known.spec.name + ": " + std::string(read.message());
    }
    return "";
  }

  const options::FlagSpec* Spec(const std::string& name) {
    const Known* known = Find(name);
    return known == nullptr ? nullptr : &known->spec;
  }
  // Empty: the flag stands in no section, or is unknown.
  std::string SectionOf(const std::string& name) {
    const Known* known = Find(name);
    return known == nullptr ? "" : known->section;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Known& known : flags_) names.push_back(known.spec.name);
    return names;
  }

 private:
  struct Known {
    options::FlagSpec spec;
    std::shared_ptr<options::Flag> flag;
    std::vector<std::string> texts;
    std::string section;
  };

  Known* Find(const std::string& name) {
    for (Known& known : flags_) {
      if (known.spec.name == name) return &known;
    }
    return nullptr;
  }

  static std::vector<std::string> Parts(const Known& known) {
    if (!known.spec.comma_separated) return known.texts;
    std::vector<std::string> parts;
    for (const std::string& text : known.texts) {
      std::size_t begin = 0;
      for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = text.find(',', begin);
        parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
      }
    }
    return parts;
  }

  template <typename T>
  static Status Set(const Known& known, const T& to) {
    const std::string& last = known.texts.back();
    if constexpr (std::is_same_v<T, options::ReadTexts>) {
      return to(Parts(known));
    } else if constexpr (std::is_same_v<T, bool*>) {
      *to = last == "true";
    } else if constexpr (std::is_same_v<T, std::string*>) {
      *to = last;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
      *to = Parts(known);
    } else if constexpr (std::is_same_v<T, std::chrono::milliseconds*>) {
      const auto duration = options::ParseDuration(last);
      if (!duration.ok()) return duration.status();
      *to = *duration;
    } else {
      std::from_chars(last.data(), last.data() + last.size(), *to);
    }
    return {};
  }

  std::vector<Known> flags_;
  std::string section_;
};

}  // namespace apiserver::inline v0::testing
