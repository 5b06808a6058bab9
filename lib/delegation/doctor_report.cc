// The findings of a doctor for people and for programs.
#include <algorithm>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/delegation/doctor.h"

namespace apiserver::v0::delegation {

namespace {

using Level = Finding::Level;

// Padded to one width, so that the texts of all findings begin in one column.
std::string_view Mark(const Finding& finding) {
  if (finding.repaired) return "fixed    ";
  switch (finding.level) {
    case Level::kOk:
      return "ok       ";
    case Level::kWarning:
      return "warning  ";
    case Level::kProblem:
      return "problem  ";
  }
  return "";
}

std::string_view StatusOf(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "warning";
    case Level::kProblem:
      return "error";
  }
  return "";
}

// "request header" is "request-header".
std::string NameOf(const std::string& check) {
  std::string name;
  for (const char each : check) {
    const bool upper = each >= 'A' && each <= 'Z';
    name += each == ' ' ? '-' : static_cast<char>(upper ? each - 'A' + 'a' : each);
  }
  return name;
}

void AppendMember(std::string_view name, std::string_view value, std::string& json) {
  json += json.ends_with('{') ? "" : ",";
  codec::AppendJsonString(name, json);
  json += ':';
  codec::AppendJsonString(value, json);
}

}  // namespace

Finding FindingOfFile(const std::string& flag, const std::string& file, const Status& loaded) {
  if (loaded.ok()) return {.check = flag, .text = "can be used", .subject = file};
  return {.level = Finding::Level::kProblem,
          .check = flag,
          .text = std::string(loaded.message()),
          .remedy = "Correct the file, or the flag --" + flag + ".",
          .subject = file};
}

std::string Render(const std::vector<Finding>& findings) {
  std::string text;
  std::vector<std::string> documents;
  for (const Finding& each : findings) {
    const std::string subject = each.subject.empty() ? "" : " " + each.subject;
    text += std::string(Mark(each)) + each.check + subject + ": " + each.text + "\n";
    if (!each.remedy.empty()) {
      text += "         " + each.remedy + (each.yaml.empty() ? "\n" : " see below\n");
    }
    if (each.yaml.empty()) continue;
    // Several findings may have the same remedy; it is printed once.
    if (std::find(documents.begin(), documents.end(), each.yaml) == documents.end()) {
      documents.push_back(each.yaml);
    }
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    text += (i == 0 ? "\n# kubectl apply -f -\n" : "---\n") + documents[i];
  }
  return text;
}

std::string RenderJson(const std::vector<Finding>& findings) {
  std::string json =
      R"({"apiVersion":"libapiserver.dev/v1alpha1","kind":"DoctorReport","checks":[)";
  for (const Finding& each : findings) {
    json += json.ends_with('[') ? "{" : ",{";
    AppendMember("name", NameOf(each.check), json);
    if (!each.subject.empty()) AppendMember("subject", each.subject, json);
    AppendMember("status", StatusOf(each.level), json);
    AppendMember("message", each.text, json);
    AppendMember("fix", each.remedy, json);
    if (!each.yaml.empty()) AppendMember("manifest", each.yaml, json);
    if (each.repaired) json += R"(,"fixed":true)";
    json += '}';
  }
  return codec::IndentJson(json + "]}") + "\n";
}

}  // namespace apiserver::v0::delegation
