#include "program/completion.h"

#include <algorithm>
#include <cctype>

#include "program/command_line.h"
#include "program/commands.h"

namespace apiserver::v0::program {

namespace {

std::string Join(const std::vector<std::string>& words, std::string_view between) {
  std::string joined;
  for (const std::string& word : words)
    joined += (joined.empty() ? "" : std::string(between)) + word;
  return joined;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

// Puts `escape` before each of `special`.
std::string Escape(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Writes a text that a shell takes as it is, between single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The function of a script may have letters, digits and underscores only.
std::string FunctionName(const std::string& name) {
  std::string function = "_" + name;
  std::ranges::replace_if(
      function, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return function;
}

// bash splits words at '=': "--storage=me" comes as "--storage", "=" and "me".
std::string Bash(const std::string& name, const std::vector<FlagText>& flags) {
  const std::string function = FunctionName(name);
  std::vector<std::string> all;
  std::vector<std::string> with_file;
  std::string cases;
  for (const FlagText& flag : flags) {
    all.insert(all.end(), flag.names.begin(), flag.names.end());
    if (flag.value.empty()) continue;
    if (flag.words.empty()) {
      with_file.insert(with_file.end(), flag.names.begin(), flag.names.end());
      continue;
    }
    cases += "    " + Join(flag.names, "|") + ")\n      mapfile -t COMPREPLY < <(compgen -W " +
             Quoted(Join(flag.words, " ")) + " -- \"$word\")\n      return ;;\n";
  }
  return "# bash completion for " + name + "\n" + function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  if [[ $word == \"=\" ]]; then\n"
         "    word=\n"
         "  elif [[ $before == \"=\" ]]; then\n"
         "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  COMPREPLY=()\n"
         "  case $before in\n" +
         cases + "    " + Join(with_file, "|") +
         ")\n"
         "      mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
         "      return ;;\n"
         "  esac\n"
         "  if [[ $COMP_CWORD == 1 && $word != -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W " +
         Quoted(Join(CommandNames(), " ")) +
         " -- \"$word\")\n"
         "    return\n"
         "  fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W " +
         Quoted(Join(all, " ")) + " -- \"$word\")\n}\ncomplete -F " + function + " " + name + "\n";
}

// _arguments takes '--name=[help]:value:action'; brackets and colons of the help are escaped.
std::string Zsh(const std::string& name, const std::vector<FlagText>& flags) {
  const std::string function = FunctionName(name);
  std::string script = "#compdef " + name + "\n" + function + "() {\n  _arguments \\\n";
  for (const FlagText& flag : flags) {
    for (const std::string& each : flag.names) {
      const bool is_long = each.starts_with("--");
      std::string spec = "*" + each;
      if (!flag.value.empty()) spec += is_long ? "=" : "+";
      spec += "[" + Escape(flag.help, "[]:\\") + "]";
      if (!flag.value.empty()) {
        spec += ":" + Escape(flag.value, ":\\") + ":";
        spec += flag.words.empty() ? "_files" : "(" + Join(flag.words, " ") + ")";
      }
      script += "    " + Quoted(spec) + " \\\n";
    }
  }
  return script + "    " + Quoted("1:command:(" + Join(CommandNames(), " ") + ")") + "\n}\n" +
         function + " \"$@\"\n";
}

std::string Fish(const std::string& name, const std::vector<FlagText>& flags) {
  std::string script = "# fish completion for " + name + "\n";
  const std::string start = "complete -c " + name;
  for (const Command& command : kCommands) {
    script += start + " -n __fish_use_subcommand -f -a " + std::string(command.name) + " -d " +
              Quoted(command.help) + "\n";
  }
  for (const FlagText& flag : flags) {
    std::string line = start;
    for (const std::string& each : flag.names) {
      line += each.starts_with("--") ? " -l " + each.substr(2) : " -s " + each.substr(1);
    }
    if (!flag.value.empty() && flag.words.empty()) line += " -r";
    if (!flag.words.empty()) line += " -x -a " + Quoted(Join(flag.words, " "));
    // fish knows the escapes \\ and \' between single quotes.
    script += line + " -d '" + Escape(flag.help, "\\'") + "'\n";
  }
  return script;
}

}  // namespace

Result<std::string> Completion(std::string_view shell, const std::string& name,
                               const std::vector<FlagText>& flags) {
  if (shell == "bash") return Bash(name, flags);
  if (shell == "zsh") return Zsh(name, flags);
  if (shell == "fish") return Fish(name, flags);
  return Status(Reason::kInvalid, "no completion for the shell \"" + std::string(shell) +
                                      "\"; there is one for bash, zsh and fish");
}

int CompletionMain(int argc, const char* const* argv, const Program& program) {
  if (argc != 2) return Print(Refused("completion takes one shell: bash, zsh or fish"));
  const auto script = Completion(argv[1], program.name, FlagTexts(program));
  if (!script.ok()) return Print(Refused(script.status().message()));
  return Print({.text = *script});
}

}  // namespace apiserver::v0::program
