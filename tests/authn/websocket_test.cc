#include "apiserver/authn/websocket.h"

#include <catch2/catch.hpp>

#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Values = std::vector<std::string>;

http::Request Opening(const Values& protocols, const Values& connection = {"upgrade"},
                      const std::string& upgrade = "websocket") {
  http::Request request;
  for (const std::string& value : connection) request.headers.Add("Connection", value);
  request.headers.Add("Upgrade", upgrade);
  for (const std::string& value : protocols) request.headers.Add("Sec-WebSocket-Protocol", value);
  return request;
}

Values Left(http::Request request) {
  RemoveWebSocketToken(request.headers);
  Values left;
  for (const std::string_view value : request.headers.GetAll("sec-websocket-protocol")) {
    left.emplace_back(value);
  }
  return left;
}

const std::string kToken = "base64url.bearer.authorization.k8s.io.dG9rZW4";

}  // namespace

// TestAuthenticateRequest, TestAuthenticateRequestMultipleConnectionHeaders, TestBearerToken
TEST_CASE("authn: a WebSocket's subprotocol may carry a token", "[authn]") {
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "user"}));
  const auto websocket = NewWebSocketProtocol(known);
  for (const http::Request& request :
       {Opening({kToken + ",dummy"}), Opening({kToken + ",dummy"}, {"not", "upgrade"}),
        Opening({kToken, "dummy, dummy2"}), Opening({"dummy", " " + kToken + " "}),
        Opening({kToken + ","}), Opening({kToken + ",dummy"}, {"Upgrade"}, "WebSocket")}) {
    const Answer answer = websocket->Authenticate(Context::Background(), request);
    REQUIRE(answer.ok());
    REQUIRE(answer->has_value());
    CHECK(answer->value().user->name == "user");
    CHECK(known->last_token == "token");
  }
}

// TestAuthenticateRequestBadValue, TestBearerToken: no header, empty header, non-bearer header,
// empty bearer token
TEST_CASE("authn: a WebSocket without a token in its subprotocols has no credentials", "[authn]") {
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "user"}));
  const auto websocket = NewWebSocketProtocol(known);
  for (const http::Request& request :
       {http::Request(), Opening({}), Opening({""}), Opening({"other-protocol"}),
        Opening({"base64url.bearer.authorization.k8s.io."}), Opening({kToken + ",d"}, {"close"}),
        Opening({kToken + ",d"}, {"upgrade"}, "h2c")}) {
    const Answer answer = websocket->Authenticate(Context::Background(), request);
    REQUIRE(answer.ok());
    CHECK_FALSE(answer->has_value());
  }
  CHECK(known->asked == 0);
}

TEST_CASE("authn: a malformed token in a WebSocket's subprotocols is refused unasked", "[authn]") {
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "user"}));
  const auto message = [&](const Values& protocols) {
    const Answer answer =
        NewWebSocketProtocol(known)->Authenticate(Context::Background(), Opening(protocols));
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    return std::string(answer.status().message());
  };
  const std::string prefix = "base64url.bearer.authorization.k8s.io.";

  CHECK(message({kToken}) == "missing additional subprotocol");
  CHECK(message({kToken + "," + kToken + ",dummy"}) ==
        "multiple base64.bearer.authorization tokens specified");
  CHECK(message({prefix + "dG9rZW4=,dummy"}) ==
        "invalid base64.bearer.authorization token encoding");
  CHECK(message({prefix + "!!,dummy"}) == "invalid base64.bearer.authorization token encoding");
  CHECK(message({prefix + "_w,dummy"}) == "invalid base64.bearer.authorization token");
  CHECK(known->asked == 0);
}

// TestAuthenticateRequestTokenInvalid, TestAuthenticateRequestTokenInvalidCustomError
TEST_CASE("authn: a WebSocket's token that nobody knows is unauthorized", "[authn]") {
  const Status custom(Reason::kInternalError, "custom");
  const auto ask = [](Answer answer) {
    return NewWebSocketProtocol(std::make_shared<FixedAuthenticator>(std::move(answer)))
        ->Authenticate(Context::Background(), Opening({kToken + ",dummy"}))
        .status();
  };

  CHECK(ask(Nobody()) == Status(Reason::kUnauthorized, "invalid bearer token"));
  CHECK(ask(custom) == custom);
}

// TestBearerToken: the protocol headers afterwards
TEST_CASE("authn: a WebSocket's token goes, and what else is offered stays", "[authn]") {
  CHECK(Left(Opening({kToken, "dummy, dummy2"})) == Values{"dummy,dummy2"});
  CHECK(Left(Opening({"dummy," + kToken})) == Values{"dummy"});
  CHECK(Left(Opening({"dummy, dummy2"})) == Values{"dummy, dummy2"});
  CHECK(Left(Opening({"a", "b"})) == Values{"a", "b"});
  CHECK(Left(Opening({kToken})).empty());
  CHECK(Left(Opening({})).empty());
}

}  // namespace apiserver::inline v0::authn
