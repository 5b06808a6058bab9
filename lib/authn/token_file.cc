#include "apiserver/authn/token_file.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "apiserver/base/source.h"
#include "authn/csv.h"
#include "authn/token_hash.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
// Users by the hash of their token.
using TokenTable = std::unordered_map<std::string, auth::UserInfoPtr>;

std::vector<std::string> SplitGroups(std::string_view field) {
  std::vector<std::string> groups;
  for (;;) {
    const std::size_t comma = field.find(',');
    groups.emplace_back(field.substr(0, comma));
    if (comma == std::string_view::npos) return groups;
    field.remove_prefix(comma + 1);
  }
}

Result<StaticToken> TokenOfRecord(const std::string& path, CsvRecord record) {
  if (record.fields.size() < 3) {
    return Status(Reason::kInvalid,
                  "token file '" + path +
                      "' must have at least 3 columns (token, user name, user uid), found " +
                      std::to_string(record.fields.size()) + " in line " +
                      std::to_string(record.line) +
                      R"(; write the line as token,user,uid or token,user,uid,"group1,group2")");
  }
  StaticToken token{
      .token = std::move(record.fields[0]),
      .user = {.name = std::move(record.fields[1]), .uid = std::move(record.fields[2])}};
  if (record.fields.size() > 3) token.user.groups = SplitGroups(record.fields[3]);
  return token;
}

class TokenFile final : public auth::TokenAuthenticator {
 public:
  explicit TokenFile(Random& random) : hasher_(random) {}

  Status Open(const TokenFileOptions& options, const WatchedFilesDeps& deps) {
    auto watched =
        WatchFiles({options.path}, options.period, deps,
                   [this, path = options.path,
                    log = &deps.log](const std::vector<std::string>& contents) -> Status {
                     ASSIGN_OR_RETURN(auto tokens, ReadTokenFile(path, contents.front(), *log));
                     Use(std::move(tokens));
                     return {};
                   });
    if (!watched.ok()) return watched.status();
    file_ = *std::move(watched);
    return {};
  }

  Result<std::optional<AuthenticateResponse>> AuthenticateToken(
      const Context&, std::string_view token) const override {
    const std::shared_ptr<const TokenTable> table = table_.Get();
    // Hashes are compared instead of tokens, so that the time of a look-up tells nothing about
    // them.
    const auto found = table->find(hasher_.Hash(token, nullptr));
    if (found == table->end()) return std::optional<AuthenticateResponse>();
    return std::optional(AuthenticateResponse{found->second});
  }

 private:
  // Of two equal tokens the later one wins, as in Go's tokenfile.NewCSV.
  void Use(std::vector<StaticToken> tokens) {
    TokenTable table;
    for (StaticToken& token : tokens) {
      table.insert_or_assign(hasher_.Hash(token.token, nullptr),
                             std::make_shared<const auth::UserInfo>(std::move(token.user)));
    }
    table_.Set(std::move(table));
  }

  const TokenHasher hasher_;
  Variable<TokenTable> table_{TokenTable()};
  std::unique_ptr<WatchedFiles> file_;  // Last: uses the others until it is gone.
};

}  // namespace

Result<std::vector<StaticToken>> ReadTokenFile(const std::string& path, std::string_view text,
                                               LogSink& log) {
  auto records = ReadCsv(text);
  if (!records.ok()) {
    return Status(Reason::kInvalid,
                  "token file '" + path + "': " + std::string(records.status().message()));
  }
  std::vector<StaticToken> tokens;
  std::set<std::string> seen;
  for (CsvRecord& record : *records) {
    const std::string line = std::to_string(record.line);
    ASSIGN_OR_RETURN(StaticToken token, TokenOfRecord(path, std::move(record)));
    if (token.token.empty()) {
      Log(log, LogLevel::kWarning, "empty token has been found in token file",
          {{"file", path}, {"line", line}});
      continue;
    }
    if (!seen.insert(token.token).second) {
      Log(log, LogLevel::kWarning, "duplicate token has been found in token file",
          {{"file", path}, {"line", line}});
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<std::unique_ptr<auth::TokenAuthenticator>> NewTokenFile(const TokenFileOptions& options,
                                                               const WatchedFilesDeps& deps) {
  auto file = std::make_unique<TokenFile>(*options.random);
  RETURN_IF_ERROR(file->Open(options, deps));
  return file;
}

}  // namespace apiserver::v0::authn
