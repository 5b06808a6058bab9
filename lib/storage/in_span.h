#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/trace.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::storage {

// The kind and key that a span is about.
struct SpanSubject {
  const runtime::Kind& kind;
  std::string_view key;
};

inline void Describe(const SpanSubject& subject, trace::Span& span) {
  if (!span.recording()) return;
  span.SetAttribute("key", std::string(subject.key));
  span.SetAttribute("group", subject.kind.group());
  span.SetAttribute("resource", subject.kind.plural());
}

// Calls `work` with a Context, in a span of its own if the request is traced, and returns its
// result.
template <class Work>
auto InSpan(const Context& ctx, std::string_view name, const SpanSubject& subject,
            const Work& work) {
  trace::ScopedSpan scope(ctx, name);
  Describe(subject, scope.span());
  auto result = work(scope.ctx());
  scope.span().EndWith(result.status());
  return result;
}

}  // namespace apiserver::inline v0::storage
