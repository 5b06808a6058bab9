#include "apiserver/authn/token_file.h"

#include <catch2/catch.hpp>
#include <thread>

#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Groups = std::vector<std::string>;

// Keeps its lines.
class Lines final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    std::string line(message);
    for (const LogField& field : fields) {
      line.append(" ").append(field.key).append("=").append(field.value);
    }
    lines_.Lock()->push_back(std::move(line));
  }
  std::vector<std::string> lines() const { return *lines_.Lock(); }

 private:
  Guarded<std::vector<std::string>> lines_;
};

const std::string kTokenFile = "/etc/tokens.csv";

struct File {
  explicit File(const std::string& text) {
    REQUIRE(files->MakeDirectories("/etc", 0700).ok());
    Write(text);
  }
  void Write(const std::string& text) {
    REQUIRE(files->WriteAtomically(kTokenFile, text, 0600).ok());
  }
  Result<std::unique_ptr<auth::TokenAuthenticator>> Open() {
    return NewTokenFile({.path = kTokenFile, .period = std::chrono::milliseconds(1)},
                        {.files = *files, .executor = *pool, .log = log});
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  Lines log;
  std::unique_ptr<Executor> pool = NewThreadPool({.name = "test", .threads = 1});
};

std::string ErrorOf(const std::string& text) {
  const auto tokens = ReadTokenFile(kTokenFile, text);
  CHECK(tokens.status().reason() == Reason::kInvalid);
  return std::string(tokens.status().message());
}

// Fields of a line that is read as a token with one group.
std::vector<std::string> FieldsOf(const std::string& text) {
  const auto tokens = ReadTokenFile(kTokenFile, text);
  REQUIRE(tokens.ok());
  REQUIRE(tokens->size() == 1);
  const StaticToken& token = tokens->front();
  std::vector<std::string> fields{token.token, token.user.name, token.user.uid};
  fields.insert(fields.end(), token.user.groups.begin(), token.user.groups.end());
  return fields;
}

}  // namespace

// TestTokenFile
TEST_CASE("authn: a token file's lines are tokens and their users", "[authn]") {
  File file(R"(
token1,user1,uid1
token2,user2,uid2
token3,user3,uid3,"group1,group2"
token4,user4,uid4,"group2"
token5,user5,uid5,group5
token6,user6,uid6,group5,otherdata
token7,user7,uid7,"group1,group2",otherdata
)");
  const auto tokens = file.Open();
  REQUIRE(tokens.ok());
  const auto user = [&](const std::string& token) {
    return *(*tokens)->AuthenticateToken(Context::Background(), token)->value().user;
  };

  CHECK(user("token1") == auth::UserInfo{.name = "user1", .uid = "uid1"});
  CHECK(user("token2") == auth::UserInfo{.name = "user2", .uid = "uid2"});
  CHECK(user("token3").groups == Groups{"group1", "group2"});
  CHECK(user("token4").groups == Groups{"group2"});
  CHECK(user("token5").groups == Groups{"group5"});
  CHECK(user("token6").groups == Groups{"group5"});
  CHECK(user("token7").groups == Groups{"group1", "group2"});
  for (const char* unknown : {"token8", "", "token", "token1 ", "TOKEN1"}) {
    CHECK_FALSE((*tokens)->AuthenticateToken(Context::Background(), unknown)->has_value());
  }
}

// TestBadTokenFile, TestInsufficientColumnsTokenFile
TEST_CASE("authn: a token file's error names file, line and what must be there", "[authn]") {
  const std::string columns =
      "token file '/etc/tokens.csv' must have at least 3 columns (token, user name, user uid), "
      "found ";
  const std::string remedy =
      R"(; write the line as token,user,uid or token,user,uid,"group1,group2")";
  CHECK(ErrorOf("\ntoken1,user1,uid1\ntoken2,user2,uid2\ntoken3,user3\ntoken4\n") ==
        columns + "2 in line 4" + remedy);
  CHECK(ErrorOf("token4\n") == columns + "1 in line 1" + remedy);
  const std::string parse = "token file '/etc/tokens.csv': parse error on line ";
  CHECK(ErrorOf("a,b,c\nto\"ken,b,c") == parse + "2, column 3: bare \" in non-quoted field");
  CHECK(ErrorOf("a,b,\"c") == parse + "1, column 7: extraneous or missing \" in quoted-field");
  CHECK(ErrorOf("a,\"b\"x,c") == parse + "1, column 6: extraneous or missing \" in quoted-field");
}

// What encoding/csv makes of quotes, ends of lines and spaces.
TEST_CASE("authn: a token file is read as Go reads CSV", "[authn]") {
  using Fields = std::vector<std::string>;
  CHECK(FieldsOf("\r\nt,u,i\r\n") == Fields{"t", "u", "i"});
  CHECK(FieldsOf("t,u,i") == Fields{"t", "u", "i"});
  CHECK(FieldsOf(" t ,u u, i") == Fields{" t ", "u u", " i"});
  CHECK(FieldsOf("\"t\"\"t\",\"u,u\",\"i\ni\"\n") == Fields{"t\"t", "u,u", "i\ni"});
  CHECK(FieldsOf("t,,") == Fields{"t", "", ""});
  CHECK(FieldsOf("t,u,i,") == Fields{"t", "u", "i", ""});
  CHECK(ReadTokenFile(kTokenFile, "")->empty());
  CHECK(ReadTokenFile(kTokenFile, "\n\n\r\n")->empty());
}

// TestEmptyTokenTokenFile
TEST_CASE("authn: a line without a token is left out, of a token twice the last counts",
          "[authn]") {
  File file(",user5,uid5\nt,first,1\nt,second,2\n");
  const auto tokens = file.Open();
  REQUIRE(tokens.ok());

  CHECK_FALSE((*tokens)->AuthenticateToken(Context::Background(), "")->has_value());
  CHECK((*tokens)->AuthenticateToken(Context::Background(), "t")->value().user->name == "second");
  CHECK(file.log.lines() ==
        std::vector<std::string>{
            "empty token has been found in token file file=/etc/tokens.csv line=1",
            "duplicate token has been found in token file file=/etc/tokens.csv line=3"});
}

TEST_CASE("authn: a token file that changes counts without a restart, a bad one does not",
          "[authn]") {
  File file("old,jane,1\n");
  const auto tokens = file.Open();
  REQUIRE(tokens.ok());
  const auto known = [&](const std::string& token) {
    return (*tokens)->AuthenticateToken(Context::Background(), token)->has_value();
  };
  const auto soon = [](const auto& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    return holds();
  };
  CHECK(known("old"));

  file.Write("broken\n");
  file.Write("new,jane,1\n");
  CHECK(soon([&] { return known("new"); }));
  CHECK_FALSE(known("old"));
  file.Write("broken\n");
  CHECK(soon([&] { return !file.log.lines().empty(); }));
  CHECK(known("new"));
}

TEST_CASE("authn: a token file that is missing or bad stops the start", "[authn]") {
  File bad("x\n");
  CHECK(bad.Open().status().reason() == Reason::kInvalid);
  REQUIRE(bad.files->Remove(kTokenFile).ok());
  CHECK(bad.Open().status().reason() == Reason::kNotFound);
}

}  // namespace apiserver::inline v0::authn
