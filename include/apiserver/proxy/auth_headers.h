#pragma once

#include "apiserver/auth/user.h"
#include "apiserver/http/headers.h"

// The headers by which a front proxy tells a backend who a request's user is. The backend believes
// them if the proxy shows a client certificate that the backend trusts.
namespace apiserver::inline v0::proxy {

// Replaces all X-Remote-User, X-Remote-Uid, X-Remote-Group and X-Remote-Extra-* headers by those of
// `user`. Follows k8s.io/client-go/transport.SetAuthProxyHeaders.
void SetAuthProxyHeaders(http::Headers& headers, const auth::UserInfo& user);

// Removes headers that bear credentials or an identity: Authorization, Impersonate-*, X-Remote-*.
// An underscore in a name counts as a dash, because some backends do not tell them apart.
void RemoveIdentity(http::Headers& headers);

}  // namespace apiserver::inline v0::proxy
