#include "program/man_page.h"

#include <cctype>
#include <string_view>

#include "program/command_line.h"
#include "program/commands.h"

namespace apiserver::v0::program {

namespace {

// Writes a line of text: no request at its beginning, no escape of roff within.
std::string Text(std::string_view text) {
  std::string line;
  if (text.starts_with('.') || text.starts_with('\'')) line = "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        line += "\\e";
        break;
      case '-':
        line += "\\-";
        break;
      case '\n':
        line += ' ';
        break;
      default:
        line += c;
    }
  }
  return line;
}

// Writes an argument of a macro.
std::string Argument(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Text(text)) quoted += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return quoted + "\"";
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string Option(const FlagText& flag) {
  std::string names;
  for (const std::string& name : flag.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + Text(name) + "\\fR");
  }
  if (!flag.value.empty()) names += "=\\fI" + Text(flag.value) + "\\fR";
  return ".TP\n" + names + "\n" + Text(flag.help) + "\n";
}

std::string Commands() {
  std::string text = ".SH COMMANDS\n";
  for (const Command& command : kCommands) {
    text += ".TP\n\\fB" + Text(command.name) + "\\fR\n" + Text(command.help) + ".\n";
  }
  return text;
}

std::string Options(const std::vector<FlagText>& flags) {
  std::string text = ".SH OPTIONS\n";
  std::vector<std::string> sections;
  for (const FlagText& flag : flags) {
    bool known = false;
    for (const std::string& section : sections) known |= section == flag.section;
    if (!known) sections.push_back(flag.section);
  }
  for (const std::string& section : sections) {
    text += ".SS " + Argument(section) + "\n";
    for (const FlagText& flag : flags) {
      if (flag.section == section) text += Option(flag);
    }
  }
  return text;
}

// The variables that change where the server listens, whom it tells that it lives, and who it is.
std::string Variables() {
  return ".SH ENVIRONMENT\n"
         ".TP\n\\fBLISTEN_FDS\\fR, \\fBLISTEN_PID\\fR, \\fBLISTEN_FDNAMES\\fR\n"
         "A TCP socket that systemd passes, which takes the place of \\fB\\-\\-bind\\-address\\fR "
         "and "
         "\\fB\\-\\-secure\\-port\\fR.\n"
         ".TP\n\\fBNOTIFY_SOCKET\\fR, \\fBWATCHDOG_USEC\\fR, \\fBWATCHDOG_PID\\fR\n"
         "The socket on which systemd is told that the server is ready, lives and stops.\n"
         ".TP\n\\fBKUBERNETES_SERVICE_HOST\\fR, \\fBKUBERNETES_SERVICE_PORT\\fR\n"
         "The API server of the cluster in whose pod this server runs.\n";
}

}  // namespace

std::string ManPage(const Program& program, const std::vector<FlagText>& flags) {
  const std::string what =
      program.description.empty() ? "The API server " + program.name : program.description;
  const std::string name = Text(program.name);
  return ".TH " + Argument(Upper(program.name)) + " 8 \"\" " +
         Argument(program.name + " " + program.version) + " \"System administration\"\n" +
         ".SH NAME\n" + name + " \\- " + Text(what) + "\n" + ".SH SYNOPSIS\n\\fB" + name +
         "\\fR [\\fIflag\\fR ...]\n.br\n\\fB" + name + "\\fR \\fIcommand\\fR ...\n" +
         ".SH DESCRIPTION\n"
         "Serves a Kubernetes API until it receives SIGINT or SIGTERM. A second signal ends it at "
         "once.\n" +
         Commands() + Options(flags) + ".SH FILES\n.TP\n\\fI$XDG_DATA_HOME/" + name +
         "\\fR, or \\fI~/.local/share/" + name +
         "\\fR\nObjects, keys and the kubeconfig of a standalone server, unless "
         "\\fB\\-\\-data\\-dir\\fR names another directory.\n" +
         Variables() +
         ".SH EXIT STATUS\n.TP\n0\nIt was stopped by a signal.\n.TP\n1\nIt cannot start, or a flag "
         "is wrong.\n.TP\n2\nThere is no such flag.\n";
}

int ManMain(const Program& program) {
  return Print({.text = ManPage(program, FlagTexts(program))});
}

}  // namespace apiserver::v0::program
