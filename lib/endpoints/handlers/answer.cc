#include "endpoints/handlers/answer.h"

#include <utility>

namespace apiserver::v0::endpoints {

void Answer(const ScopePtr& scope, http::Exchange& exchange, const rest::UpdateResult& written,
            http::Resume resume) {
  const bool encoded = response::IsEncoded(exchange, *written.object, scope->target);
  auto answer = [scope, &exchange, written] {
    return response::WriteObject(exchange, written.created ? 201 : 200, written.object,
                                 scope->target);
  };
  if (encoded) return resume.OnLoop(std::move(answer));
  resume(http::Step::OnPool(std::move(answer)));
}

}  // namespace apiserver::v0::endpoints
