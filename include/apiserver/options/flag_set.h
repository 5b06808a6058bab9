#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apiserver/base/status.h"

// The flags of a program, as groups of options see them: github.com/spf13/pflag, pflag.FlagSet. The
// library reads no command line. A program puts the parser of its choice behind FlagSet, and the
// groups tell it their flags, with the names, values and defaults of kube-apiserver.
namespace apiserver::inline v0::options {

// A flag once it is part of a set.
struct Flag {
  std::string name;    // With its dashes: "--secure-port".
  bool given = false;  // The command line that was read names it.
};
// Shared with the set, which sets `given`; it may outlive the set.
using FlagPtr = std::shared_ptr<const Flag>;
using Flags = std::vector<FlagPtr>;

// Takes all texts that a flag is given, in their order, once. An error says what is wrong with
// them; the set puts the flag's name in front. Called on the thread that reads the command line;
// may block.
using ReadTexts = std::function<Status(const std::vector<std::string>& texts)>;

// The place for a flag's value, which also decides its type. The variable there holds the default,
// is written only when the flag is given, and must outlive the reading.
//
// - bool: a switch. It needs no value, and takes one only after '=': the words of Go's
//   strconv.ParseBool.
// - std::vector<std::string>: grows with each time that the flag is given; the first time takes the
//   place of the default.
// - std::chrono::milliseconds: what ParseDuration reads.
// - ReadTexts: the group reads the texts.
//
// If a flag of another type is given twice, the last value counts.
using FlagValue = std::variant<bool*, int*, std::size_t*, double*, std::string*,
                               std::vector<std::string>*, std::chrono::milliseconds*, ReadTexts>;

// The numbers that a flag takes; others are refused as the command line is read.
struct FlagRange {
  int min = 0;
  int max = 0;
};

// The description of a flag by its group.
struct FlagSpec {
  std::string name;  // With its dashes: "--secure-port".
  FlagValue value;
  std::string help;
  // The help also says what `value` holds. False: there is nothing to show, or the help's own words
  // tell the default.
  bool show_default = false;
  std::optional<FlagRange> range = std::nullopt;  // For an int or std::size_t.
  std::vector<std::string> one_of = {};           // The allowed texts. Empty: all.
  bool comma_separated = false;  // Each text of a list or of ReadTexts is a list itself.
  std::string off_name = "";     // Another flag that turns a switch off. Empty: none.
  std::string type_name = "";    // The name of ReadTexts' values in the help.
};

// Flags by name. A program implements it once, over its parser, and lets groups add their flags
// before it reads the command line. Used by one thread, which may block.
class FlagSet {
 public:
  virtual ~FlagSet() = default;
  // Adds a flag, whose name is not taken.
  virtual FlagPtr Add(FlagSpec spec) = 0;
  // Begins a section of the help: flags added from here on belong to it, until the next one begins.
  // `title` is kube-apiserver's, capitalized: "Secure serving". A section may begin more than once.
  // The default does nothing. k8s.io/component-base/cli/flag, NamedFlagSets.FlagSet.
  virtual void BeginSection(std::string_view /*title*/) {}
};

// Returns the name of the first of `flags` that is given. Empty: none is.
std::string FirstGiven(const Flags& flags);

// Reads Go's durations of whole milliseconds: "5m", "1m30s", "500ms", "0"; units are h, m, s and
// ms. kInvalid: it is none; the message shows what one looks like.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

}  // namespace apiserver::inline v0::options
