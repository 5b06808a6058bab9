#include "authn/token_review_messages.h"

#include <memory>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using runtime::Value;

// Limits of a response: reviews are small, even for users with many groups.
constexpr codec::JsonLimits kReviewLimits{.depth_max = 64, .bytes_max = 4 << 20};

std::vector<std::string> TextsOf(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items()) texts.emplace_back(item.AsString());
  return texts;
}

auth::UserInfo ReviewedUser(const Value& user) {
  auth::UserInfo info{.name = std::string(user["username"].AsString()),
                      .uid = std::string(user["uid"].AsString()),
                      .groups = TextsOf(user["groups"])};
  for (const runtime::Member& member : user["extra"].members()) {
    info.extra.emplace(member.key, TextsOf(member.value));
  }
  return info;
}

Status NoReview(std::string why) {
  return Status(Reason::kInternalError, "the token review's answer " + std::move(why));
}

}  // namespace

std::string TokenReviewBody(std::string_view version, std::string_view token,
                            const std::vector<std::string>* audiences) {
  std::string body = R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/)";
  body += version;
  body += R"(","metadata":{},"spec":{"token":)";
  codec::AppendJsonString(token, body);
  if (audiences != nullptr && !audiences->empty()) {
    body += R"(,"audiences":[)";
    for (const std::string& audience : *audiences) {
      if (body.back() != '[') body += ',';
      codec::AppendJsonString(audience, body);
    }
    body += ']';
  }
  body += R"(},"status":{"user":{}}})";
  return body;
}

// An answer that is not a review is an error of the server, never a refusal of the token.
Result<std::optional<AuthenticateResponse>> ReadTokenReview(std::string_view body) {
  runtime::Arena arena;
  const Result<Value> review = codec::ParseJson(body, arena, nullptr, kReviewLimits);
  if (!review.ok()) return NoReview("is not JSON: " + std::string(review.status().message()));
  if ((*review)["kind"].AsString() != "TokenReview" ||
      !(*review)["apiVersion"].AsString().starts_with("authentication.k8s.io/")) {
    return NoReview("is not of kind TokenReview of authentication.k8s.io");
  }
  const Value status = (*review)["status"];
  if (!status["authenticated"].AsBool()) {
    const std::string_view error = status["error"].AsString();
    if (error.empty()) return std::optional<AuthenticateResponse>();
    return Status(Reason::kUnauthorized, std::string(error));
  }
  auth::UserInfo user = ReviewedUser(status["user"]);
  if (user.name.empty()) return NoReview("calls the token known, but names no user");
  return std::optional(AuthenticateResponse{std::make_shared<const auth::UserInfo>(std::move(user)),
                                            TextsOf(status["audiences"])});
}

}  // namespace apiserver::v0::authn
