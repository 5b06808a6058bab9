#include "controller/lease_lock.h"

#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::controller {
namespace {

using runtime::Object;
using runtime::Value;

LeaseRecord RecordOf(const Object& lease) {
  const Value spec = lease["spec"];
  return {.holder = std::string(spec["holderIdentity"].AsString()),
          .duration_seconds = spec["leaseDurationSeconds"].AsInt(),
          .acquire_time = std::string(spec["acquireTime"].AsString()),
          .renew_time = std::string(spec["renewTime"].AsString()),
          .transitions = spec["leaseTransitions"].AsInt()};
}

}  // namespace

LeaseLock::LeaseLock(client::Client& client, const std::string& space, const std::string& name,
                     std::map<std::string, std::string> labels)
    : client_(client),
      target_{
          .resource = {"coordination.k8s.io", "v1", "leases"}, .namespace_ = space, .name = name},
      labels_(std::move(labels)) {}

Result<LeaseRecord> LeaseLock::Get(const Context& ctx) {
  ASSIGN_OR_RETURN(lease_, client_.Get(ctx, target_));
  return RecordOf(*lease_);
}

Status LeaseLock::Create(const Context& ctx, const LeaseRecord& record) {
  static const runtime::KindPtr kind =
      runtime::Kind::Untyped({"coordination.k8s.io", "v1", "Lease"});
  Object lease(kind, "v1");
  lease.Edit("metadata", "name") = target_.name;
  lease.Edit("metadata", "namespace") = target_.namespace_;
  Fill(lease, record);
  client::Target collection = target_;
  collection.name.clear();
  ASSIGN_OR_RETURN(lease_, client_.Create(ctx, collection, lease));
  return Status::Ok();
}

Status LeaseLock::Update(const Context& ctx, const LeaseRecord& record) {
  if (!lease_) return Status(Reason::kConflict, "the lease was not read yet");
  const std::unique_ptr<Object> lease = lease_->Clone();
  Fill(*lease, record);
  ASSIGN_OR_RETURN(lease_, client_.Update(ctx, target_, *lease));
  return Status::Ok();
}

// Replaces the whole spec, as upstream does: a lease is of one election.
void LeaseLock::Fill(Object& lease, const LeaseRecord& record) const {
  lease.Erase("spec");
  lease.Edit("spec", "holderIdentity") = record.holder;
  lease.Edit("spec", "leaseDurationSeconds") = record.duration_seconds;
  lease.Edit("spec", "acquireTime") = record.acquire_time;
  lease.Edit("spec", "renewTime") = record.renew_time;
  lease.Edit("spec", "leaseTransitions") = record.transitions;
  for (const auto& [key, value] : labels_) lease.Edit("metadata", "labels", key) = value;
}

}  // namespace apiserver::v0::controller
