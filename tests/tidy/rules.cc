#include "tidy/rules.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tidy {
namespace {

constexpr std::size_t kColumnsMax = 100;
constexpr std::size_t kFileLinesMax = 800;
constexpr std::size_t kFunctionLinesMax = 70;

bool Contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string At(const SourceFile& file, std::size_t index, std::string_view what) {
  return file.path + ":" + std::to_string(index + 1) + ": " + std::string(what);
}

// UTF-8: a continuation byte takes no column.
std::size_t Columns(std::string_view line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool IsPublic(const SourceFile& file) { return file.path.starts_with("include/apiserver/"); }
bool IsLibrary(const SourceFile& file) { return IsPublic(file) || file.path.starts_with("lib/"); }

// "storage/kv" of "lib/storage/kv/engine.cc" and of "include/apiserver/storage/kv/engine.h".
std::string FolderOf(std::string_view path) {
  for (const std::string_view root : {"include/apiserver/", "lib/"}) {
    if (path.starts_with(root)) path.remove_prefix(root.size());
  }
  const std::size_t end = path.rfind('/');
  return std::string(path.substr(0, end == std::string_view::npos ? 0 : end));
}

// The longest room that `folder` lies in.
std::optional<std::string> RoomOf(const House& house, std::string folder) {
  std::replace(folder.begin(), folder.end(), '/', '.');
  while (!folder.empty()) {
    if (Contains(house.rooms, folder) || Contains(house.leaves, folder)) return folder;
    const std::size_t dot = folder.rfind('.');
    folder.resize(dot == std::string::npos ? 0 : dot);
  }
  return std::nullopt;
}

std::size_t RankOf(const House& house, std::string_view room) {
  std::vector<std::string> order = house.rooms;
  order.insert(order.end(), house.leaves.begin(), house.leaves.end());
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), room) - order.begin());
}

struct Include {
  char open;  // '<' or '"'.
  std::string name;
};

std::optional<Include> IncludeOf(std::string_view line) {
  constexpr std::string_view kDirective = "#include ";
  if (!line.starts_with(kDirective)) return std::nullopt;
  line.remove_prefix(kDirective.size());
  if (line.empty() || (line[0] != '<' && line[0] != '"')) return std::nullopt;
  const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{line[0], std::string(line.substr(1, end - 1))};
}

// What is wrong with a quoted include in a file of `room`; empty: nothing.
std::string WrongWith(const House& house, const std::string& room, std::string_view included) {
  if (included.starts_with("apiserver/")) included.remove_prefix(10);
  const std::optional<std::string> target = RoomOf(house, FolderOf(included));
  if (!target) return "includes a file of no room";
  if (Contains(house.leaves, *target) && !Contains(house.leaves, room)) {
    return "room " + room + " includes leaf " + *target;
  }
  if (RankOf(house, *target) > RankOf(house, room)) {
    return "room " + room + " includes " + *target + ", which stands above it";
  }
  return "";
}

// The headers of the standard library, each between blanks.
constexpr std::string_view kStandard =
    " algorithm any array atomic barrier bit bitset cassert cctype cerrno charconv chrono "
    "climits cmath compare complex concepts condition_variable coroutine cstddef cstdint "
    "cstdlib cstring ctime deque exception filesystem forward_list functional "
    "initializer_list iosfwd istream iterator latch limits list map memory "
    "memory_resource mutex new numbers numeric optional ostream queue ranges ratio "
    "semaphore set shared_mutex source_location span sstream stack stdexcept stop_token "
    "string string_view system_error thread tuple type_traits typeindex typeinfo "
    "unordered_map unordered_set utility variant vector version ";

bool IsStandard(std::string_view name) {
  return kStandard.find(" " + std::string(name) + " ") != std::string_view::npos;
}

// The public headers that may name the test framework: a host's tests include them, nobody else.
bool IsForCatch(const SourceFile& file) {
  return file.path.starts_with("include/apiserver/testing/") && file.path.ends_with("_catch2.h");
}

// What is wrong with one line of a public header; empty: nothing.
std::string WrongInHeader(const SourceFile& file, std::string_view line) {
  if (const auto include = IncludeOf(line)) {
    const bool ours = include->open == '"' && include->name.starts_with("apiserver/");
    const bool standard = include->open == '<' && IsStandard(include->name);
    const bool framework = IsForCatch(file) && include->name.starts_with("catch2/");
    if (!ours && !standard && !framework) {
      return "a public header includes the standard library and apiserver/ only";
    }
  }
  // The one type of another library that a host hands over is declared there, not included.
  const bool handed_over = file.path.starts_with("include/apiserver/cpprest/") &&
                           line.starts_with("namespace web::http");
  if (line.starts_with("namespace ") && !line.starts_with("namespace apiserver::inline v0") &&
      !handed_over) {
    return "a public header's namespace is apiserver::inline v0";
  }
  if (line.find("using namespace ") != std::string_view::npos) {
    return "a public header opens no namespace";
  }
  if (line.starts_with("#define ") && !line.starts_with("#define APISERVER_")) {
    return "a public header defines no macro but APISERVER_*";
  }
  return "";
}

// The lengths of the functions that begin in column 1, by the index of their first line.
// clang-format does not indent namespaces, so a body opens below a line of text and closes with a
// lone '}'.
std::vector<std::pair<std::size_t, std::size_t>> Functions(const SourceFile& file) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  std::optional<std::size_t> start;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.empty()) continue;
    if (line == "}" && start) {
      found.emplace_back(*start, i + 1 - *start);
      start.reset();
    } else if (std::string_view(" }/#").find(line[0]) == std::string_view::npos) {
      start = i;
      if (line.starts_with("namespace") || line.back() == ';') start.reset();
    }
  }
  return found;
}

// A line of code without its comment and without what stands in quotes, which may say anything.
std::string CodeOf(std::string_view line) {
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && quoted) {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && line.substr(i).starts_with("//")) {
      break;
    } else if (!quoted) {
      code += line[i];
    }
  }
  return code;
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether `name` stands in `text` as a word of its own; a name that ends in '(' is a call.
bool Names(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = name[0] == '_' || at == 0 || !IsWordCharacter(text[at - 1]);
    const bool member = at > 0 && (text[at - 1] == '.' || text[at - 1] == '>');
    const bool ends = name.back() == '(' || end == text.size() || !IsWordCharacter(text[end]);
    // std::thread::id is a value, and what Executor::Inside() compares.
    if (text.substr(end).starts_with("::id")) continue;
    if (begins && ends && !(member && name.back() == '(')) return true;
  }
  return false;
}

enum class Allowed { kPrograms, kBaseAndLeaves, kRest };

struct ForbiddenName {
  std::string_view name;
  Allowed allowed;
  std::string_view instead;
};

constexpr ForbiddenName kForbidden[] = {
    {"std::mutex", Allowed::kBaseAndLeaves, "use Guarded of base"},
    {"std::shared_mutex", Allowed::kBaseAndLeaves, "use Guarded of base"},
    {"std::recursive_mutex", Allowed::kBaseAndLeaves, "use Guarded of base"},
    {"std::condition_variable", Allowed::kBaseAndLeaves, "use Guarded of base"},
    {"std::thread", Allowed::kBaseAndLeaves, "use Thread or an Executor of base"},
    {"std::jthread", Allowed::kBaseAndLeaves, "use Thread or an Executor of base"},
    {"std::async", Allowed::kBaseAndLeaves, "use an Executor of base"},
    {"std::this_thread::sleep_for", Allowed::kBaseAndLeaves, "use Clock of base"},
    {"std::this_thread::sleep_until", Allowed::kBaseAndLeaves, "use Clock of base"},
    {"_clock::now", Allowed::kBaseAndLeaves, "use Clock of base"},
    {"std::random_device", Allowed::kBaseAndLeaves, "use Random of base"},
    {"std::mt19937", Allowed::kBaseAndLeaves, "use Random of base"},
    {"rand(", Allowed::kBaseAndLeaves, "use Random of base"},
    {"getenv(", Allowed::kBaseAndLeaves, "take it as an option"},
    {"std::ifstream", Allowed::kBaseAndLeaves, "use FileSystem of base"},
    {"std::ofstream", Allowed::kBaseAndLeaves, "use FileSystem of base"},
    {"std::fstream", Allowed::kBaseAndLeaves, "use FileSystem of base"},
    {"fopen(", Allowed::kBaseAndLeaves, "use FileSystem of base"},
    {"dynamic_cast", Allowed::kRest, "ask Capabilities::Of"},
    {"thread_local", Allowed::kBaseAndLeaves, "pass it in the Context"},
    {"std::cout", Allowed::kPrograms, "use LogSink of base"},
    {"std::cerr", Allowed::kPrograms, "use LogSink of base"},
    {"printf(", Allowed::kPrograms, "use LogSink of base"},
    {"exit(", Allowed::kPrograms, "return a Status"},
    {"signal(", Allowed::kPrograms, "signals are the host's"},
    {"sigaction(", Allowed::kPrograms, "signals are the host's"},
};

// Returns whether the line is a range-based for over the target of a temporary lock or pointer.
bool LoopsOverTemporary(std::string_view code) {
  const std::size_t begin = code.find("for (");
  if (begin == std::string_view::npos) return false;
  const std::size_t colon = code.find(" : ", begin);
  if (colon == std::string_view::npos) return false;
  const std::string_view range = code.substr(colon + 3);
  if (range.find(".Lock()") != std::string_view::npos) return true;
  if (range.size() < 2 || range[0] != '*' || range[1] < 'A' || range[1] > 'Z') return false;
  std::size_t end = 1;
  while (end < range.size() && IsWordCharacter(range[end])) ++end;
  return end < range.size() && range[end] == '(';
}

bool MayUse(const House& house, std::string_view room, Allowed allowed) {
  switch (allowed) {
    case Allowed::kPrograms:
      return room == "program" || room.starts_with("program.");
    case Allowed::kBaseAndLeaves:
      return room == "base" || Contains(house.leaves, room);
    case Allowed::kRest:
      return room == "rest";
  }
  return false;
}

// Words in two parts, so that this file does not complain about itself.
constexpr std::string_view kLeftovers[] = {
    "FIX"
    "ME",
    "XX"
    "X:",
    "HA"
    "CK",
    "TO"
    "DO:",
    "not imple"
    "mented yet",
    "/wo"
    "rk/",
    "/ho"
    "me/",
    "/ro"
    "ot/"};

}  // namespace

Complaints Sizes(const Tree& tree) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    if (file.lines.size() > kFileLinesMax) {
      complaints.push_back(At(file, kFileLinesMax, "the file has more than 800 lines"));
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (Columns(file.lines[i]) > kColumnsMax) {
        complaints.push_back(At(file, i, "the line has more than 100 columns"));
      }
    }
    for (const auto& [line, length] : Functions(file)) {
      if (length > kFunctionLinesMax) {
        complaints.push_back(At(file, line, "the function has more than 70 lines"));
      }
    }
  }
  return complaints;
}

Complaints Includes(const Tree& tree, const House& house) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    if (!IsLibrary(file)) continue;
    const std::optional<std::string> room = RoomOf(house, FolderOf(file.path));
    if (!room) {
      complaints.push_back(At(file, 0, "the file lies in no room"));
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto include = IncludeOf(file.lines[i]);
      if (!include || include->open != '"') continue;
      const std::string wrong = WrongWith(house, *room, include->name);
      if (!wrong.empty()) complaints.push_back(At(file, i, wrong));
    }
  }
  return complaints;
}

Complaints PublicHeaders(const Tree& tree) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    if (!IsPublic(file)) continue;
    if (!Contains(file.lines, "#pragma once")) {
      complaints.push_back(At(file, 0, "a header says #pragma once"));
    }
    bool ours = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      ours = ours || file.lines[i].starts_with("namespace apiserver::inline v0");
      const std::string wrong = WrongInHeader(file, file.lines[i]);
      if (!wrong.empty()) complaints.push_back(At(file, i, wrong));
    }
    if (!ours) complaints.push_back(At(file, 0, "a public header's namespace is missing"));
  }
  return complaints;
}

Complaints SourceNamespaces(const Tree& tree) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    if (!IsLibrary(file) || !file.path.ends_with(".cc")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (!line.starts_with("namespace apiserver") || line.starts_with("namespace apiserver::v0")) {
        continue;
      }
      complaints.push_back(At(file, i, "a source's namespace is apiserver::v0"));
    }
  }
  return complaints;
}

Complaints Loops(const Tree& tree) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (!LoopsOverTemporary(CodeOf(file.lines[i]))) continue;
      complaints.push_back(At(file, i, "the loop's range ends before the first turn: name it"));
    }
  }
  return complaints;
}

Complaints ForbiddenNames(const Tree& tree, const House& house) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    if (!IsLibrary(file)) continue;
    const std::string room = RoomOf(house, FolderOf(file.path)).value_or("");
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = CodeOf(file.lines[i]);
      for (const ForbiddenName& row : kForbidden) {
        if (MayUse(house, room, row.allowed) || !Names(code, row.name)) continue;
        complaints.push_back(At(file, i, std::string(row.name) + ": " + std::string(row.instead)));
      }
    }
  }
  return complaints;
}

Complaints Suppressions(const SourceFile& file) {
  Complaints complaints;
  bool reason = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.empty() || line[0] == '#') {
      reason = !line.empty();
      continue;
    }
    if (!reason) complaints.push_back(At(file, i, "a suppression without its reason above it"));
    if (line.find("apiserver") != std::string::npos || line.find(':') == std::string::npos ||
        line.find_first_not_of("*", line.find(':') + 1) == std::string::npos) {
      complaints.push_back(At(file, i, "a suppression names a symbol of a third party"));
    }
  }
  return complaints;
}

Complaints Leftovers(const Tree& tree) {
  Complaints complaints;
  for (const SourceFile& file : tree) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string_view word : kLeftovers) {
        if (file.lines[i].find(word) != std::string::npos) {
          complaints.push_back(At(file, i, word));
        }
      }
    }
  }
  return complaints;
}

}  // namespace tidy
