#include "admission/policy/params.h"

#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

constexpr std::chrono::milliseconds kSyncWait = std::chrono::seconds(1);

// A configuration error; only its message is shown.
Status Misconfigured(std::string message) { return {Reason::kInternalError, std::move(message)}; }

// Prints as Go's generated ParamKind.String().
std::string Printed(const ParamKind& kind) {
  return "&ParamKind{APIVersion:" + kind.api_version + ",Kind:" + kind.kind + ",}";
}

// Returns the namespace to look in; empty for a cluster-scoped kind.
Result<std::string> NamespaceFor(const ParamRef& ref, const ParamSource& source,
                                 std::string_view ns) {
  if (!source.namespaced()) return std::string();
  if (!ref.namespace_.empty()) return ref.namespace_;
  if (!ns.empty()) return std::string(ns);
  return Misconfigured(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
}

Result<std::vector<runtime::ObjectPtr>> Found(const ParamRef& ref, const ParamSource& source,
                                              std::string_view ns) {
  if (!ref.name.empty()) {
    if (ref.selector) {
      return Misconfigured("paramRef.name and paramRef.selector are mutually exclusive");
    }
    std::vector<runtime::ObjectPtr> found;
    if (runtime::ObjectPtr object = source.Get(ns, ref.name)) found.push_back(std::move(object));
    return found;
  }
  if (!ref.selector) return Misconfigured("one of name or selector must be provided");
  RETURN_IF_ERROR(ref.selector->status());
  return source.List(ns, **ref.selector);
}

}  // namespace

Result<std::vector<runtime::ObjectPtr>> CollectParams(const ParamKind* kind, const ParamRef* ref,
                                                      const ParamSource* source,
                                                      std::string_view ns) {
  // A binding may leave the parameters of its policy out; they are null then.
  if (kind == nullptr || ref == nullptr) return std::vector<runtime::ObjectPtr>{nullptr};
  if (source == nullptr) {
    return Misconfigured("paramKind kind `" + Printed(*kind) + "` not known");
  }
  ASSIGN_OR_RETURN(const std::string in, NamespaceFor(*ref, *source, ns));
  if (!source->WaitForSync(kSyncWait)) {
    return Misconfigured("paramKind kind `" + Printed(*kind) +
                         "` not yet synced to use for admission");
  }
  if (!ref->namespace_.empty() && !source->namespaced()) {
    return Misconfigured(
        "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  ASSIGN_OR_RETURN(std::vector<runtime::ObjectPtr> found, Found(*ref, *source, in));
  if (found.empty() && ref->deny_if_not_found) {
    return Misconfigured("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return found;
}

}  // namespace apiserver::v0::admission::policy
