#pragma once  // Library-internal: other rooms include this header.

namespace apiserver::inline v0::response {

// Set in an exchange: WriteStatus tells browsers not to guess the type of its error, as
// responsewriters.RespondWithError does for refusals of authorization and impersonation.
struct NoSniff {};

}  // namespace apiserver::inline v0::response
