#pragma once  // Library-internal: other rooms include this header.

#include <span>

#include "apiserver/runtime/convert.h"
#include "apiserver/storage/interface.h"

namespace apiserver::inline v0::storage {

// Calls runtime::VisitConverted with each of `objects` in the version that `predicate` looks at.
Status LookInto(const Context& ctx, const SelectionPredicate& predicate,
                std::span<const runtime::ObjectPtr> objects, const runtime::Visit& look);

// Matches one object as MatchAll() does.
Result<bool> MatchesOne(const Context& ctx, const SelectionPredicate& predicate,
                        const runtime::ObjectPtr& object);

// True if objects of `kind` must be converted together so that `predicate` can select from them.
bool LooksTogether(const runtime::Kind& kind, const SelectionPredicate& predicate);

}  // namespace apiserver::inline v0::storage
