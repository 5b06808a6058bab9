#pragma once  // Library-internal: other rooms include this header.

namespace apiserver::inline v0::response {

// Set on an exchange: WriteStatus tells browsers not to guess what its error is, as
// responsewriters.RespondWithError does for what authorization and impersonation refuse.
struct NoSniff {};

}  // namespace apiserver::inline v0::response
