#include "storage/kv/errors.h"

#include <string>

namespace apiserver::v0::storage::kv {

Status NewCompactedError(Revision wanted, Revision compacted) {
  return Status(Reason::kExpired,
                "required revision has been compacted: " + std::to_string(wanted) +
                    ", the oldest one kept is " + std::to_string(compacted));
}

Status NewFutureRevisionError(Revision wanted, Revision current) {
  StatusDetails details;
  details.retry_after_seconds = 1;
  details.causes.push_back(
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = ""});
  return Status(Reason::kTimeout, "Too large resource version: " + std::to_string(wanted) +
                                      ", current: " + std::to_string(current))
      .WithDetails(std::move(details));
}

Status NewStoppedError() {
  return Status(Reason::kServiceUnavailable, "the storage engine is stopped");
}

Status NewLeaseNotFoundError(LeaseId lease) {
  return Status(Reason::kNotFound, "requested lease not found: " + std::to_string(lease));
}

Status ValidateTxn(const TxnRequest& request, std::size_t value_bytes_max) {
  if (request.key.empty()) return Status(Reason::kInvalid, "key is not provided");
  if (request.expected_mod_revision < 0) {
    return Status(Reason::kInvalid, "the expected revision must not be negative");
  }
  if (request.value == nullptr) {
    if (request.expected_mod_revision > 0) return Status::Ok();
    return Status(Reason::kInvalid, "a delete must name the revision it expects");
  }
  const std::size_t bytes = request.value->size();
  if (value_bytes_max == 0 || bytes <= value_bytes_max) return Status::Ok();
  return Status(Reason::kRequestEntityTooLarge, "the value has " + std::to_string(bytes) +
                                                    " bytes, the store's limit is " +
                                                    std::to_string(value_bytes_max));
}

Status ValidateRevision(Revision wanted, Revision current, Revision compacted) {
  if (wanted < 0) return Status(Reason::kInvalid, "the revision must not be negative");
  if (wanted > current) return NewFutureRevisionError(wanted, current);
  if (wanted != 0 && wanted < compacted) return NewCompactedError(wanted, compacted);
  return Status::Ok();
}

Status ValidateCompaction(Revision wanted, Revision current) {
  if (wanted <= current) return Status::Ok();
  return Status(Reason::kInvalid, "cannot compact at " + std::to_string(wanted) +
                                      ": the store is at revision " + std::to_string(current));
}

}  // namespace apiserver::v0::storage::kv
