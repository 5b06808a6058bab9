#include "storage/etcd/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr const char* kWhatToCheck =
    "; check that it runs, its addresses, and for https the certificates";

// etcd tells its errors apart by their texts; the codes are shared by several of them.
bool Says(const RpcOutcome& outcome, std::string_view words) {
  return outcome.message.find(words) != std::string::npos;
}

Status OfExhausted(const RpcOutcome& outcome, const std::string& who) {
  // The texts come from the limit of etcd's gRPC server and from its quota alarm; both use this one
  // code.
  if (Says(outcome, "larger than max")) {
    return Status(Reason::kRequestEntityTooLarge,
                  "the value is over etcd's limit (--max-request-bytes): " + outcome.message);
  }
  if (Says(outcome, "database space exceeded")) {
    return Status(Reason::kInternalError, who +
                                              " has no space left: compact and defragment it or "
                                              "raise --quota-backend-bytes, then disarm its alarm");
  }
  return Status(Reason::kServiceUnavailable, who + " is overloaded: " + outcome.message);
}

}  // namespace

bool IsCompacted(const RpcOutcome& outcome) {
  return Says(outcome, "required revision has been compacted");
}
bool IsFutureRevision(const RpcOutcome& outcome) {
  return Says(outcome, "required revision is a future revision");
}
bool IsLeaseNotFound(const RpcOutcome& outcome) {
  return Says(outcome, "requested lease not found");
}
bool IsLoginRefused(const RpcOutcome& outcome) {
  return Says(outcome, "authentication failed, invalid user ID or password");
}
bool WantsToken(const RpcOutcome& outcome) {
  return Says(outcome, "invalid auth token") || Says(outcome, "user name is empty") ||
         Says(outcome, "revision of auth store is old");
}
bool IsAuthOff(const RpcOutcome& outcome) { return Says(outcome, "authentication is not enabled"); }
bool IsDenied(const RpcOutcome& outcome) {
  // A cancelled watch has only the text, without a code.
  return outcome.code == RpcCode::kPermissionDenied || outcome.code == RpcCode::kUnauthenticated ||
         Says(outcome, "permission denied") || WantsToken(outcome) || IsLoginRefused(outcome);
}

bool IsTransient(const RpcOutcome& outcome) {
  switch (outcome.code) {
    case RpcCode::kUnavailable:
    case RpcCode::kCancelled:  // A member that shuts down ends its calls so.
    case RpcCode::kDeadlineExceeded:
    case RpcCode::kAborted:
      return true;
    case RpcCode::kInternal:
    // Faults of a member come with these codes, and so do refusals.
    case RpcCode::kUnknown:
      return !IsDenied(outcome);
    default:
      return false;
  }
}

RpcOutcome NotReadableOutcome() { return {RpcCode::kDataLoss, "the answer cannot be read"}; }

Status ToStatus(const RpcOutcome& outcome, std::string_view servers) {
  const std::string who = "etcd (" + std::string(servers) + ")";
  if (IsDenied(outcome)) {
    const char* const check =
        IsLoginRefused(outcome)
            ? "; check the user's name and password"
            : "; check the client certificate and the rights of its user in etcd";
    return Status(Reason::kInternalError,
                  who + " refuses our credentials: " + outcome.message + check);
  }
  switch (outcome.code) {
    case RpcCode::kUnavailable:
      return Status(Reason::kServiceUnavailable,
                    who + " cannot be reached: " + outcome.message + kWhatToCheck);
    case RpcCode::kDeadlineExceeded:
    case RpcCode::kCancelled:
      return Status(Reason::kTimeout, who + " did not answer in time: " + outcome.message);
    case RpcCode::kInvalidArgument:
      if (Says(outcome, "request is too large")) {
        return Status(Reason::kRequestEntityTooLarge,
                      "the value is over etcd's limit (--max-request-bytes)");
      }
      return Status(Reason::kInvalid, who + ": " + outcome.message);
    case RpcCode::kResourceExhausted:
      return OfExhausted(outcome, who);
    default:
      return Status(Reason::kInternalError, who + ": " + outcome.message);
  }
}

// A call's timeout during the opening means that no member was reached.
Status NewNotMetError(const Status& last) {
  if (last.reason() != Reason::kTimeout) return last;
  return Status(Reason::kServiceUnavailable, std::string(last.message()) + kWhatToCheck);
}

Status NewUnknownOutcomeError(std::string_view why) {
  return Status(
      Reason::kTimeout,
      "the outcome of the write is unknown: it may have happened or may yet: " + std::string(why));
}

}  // namespace apiserver::v0::storage::etcd
