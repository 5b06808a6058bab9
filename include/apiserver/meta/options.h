#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/value.h"

// The options of each verb, as meta/v1 and meta/internalversion have them, read from decoded query
// parameters. Go parses permissively; so does this: booleans are false for "false" and "0" in any
// case, true for anything else.
namespace apiserver::inline v0::meta {

// Decoded query parameters in order; a key may repeat.
using QueryValues = std::vector<std::pair<std::string, std::string>>;

// The parameter resourceVersionMatch. kOther: a word that Kubernetes does not know.
enum class ResourceVersionMatch : std::uint8_t { kUnset, kExact, kNotOlderThan, kOther };

// metav1.GetOptions.
struct GetOptions {
  std::string resource_version = {};  // "": linearizable; "0": any; else not older than.
};

// internalversion.ListOptions, for list, watch and deletecollection.
struct ListOptions {
  LabelSelector label_selector = {};
  FieldSelector field_selector = {};
  bool watch = false;
  bool allow_watch_bookmarks = false;
  std::string resource_version = {};
  ResourceVersionMatch resource_version_match = ResourceVersionMatch::kUnset;
  std::string resource_version_match_text = {};  // As sent, for error messages.
  std::optional<std::int64_t> timeout_seconds = {};
  std::int64_t limit = 0;
  std::string continue_token = {};
  std::optional<bool> send_initial_events = {};
};

// The treatment of unknown and duplicate fields in a body: dropped, dropped with a warning, or
// refused.
enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

// metav1.CreateOptions. The defaults are those of a request without parameters.
struct CreateOptions {
  bool dry_run = false;
  std::string field_manager = {};
  FieldValidation field_validation = FieldValidation::kWarn;
};
using UpdateOptions = CreateOptions;
// metav1.PatchOptions.
struct PatchOptions {
  bool dry_run = false;
  std::optional<bool> force = {};
  std::string field_manager = {};
  FieldValidation field_validation = FieldValidation::kWarn;
};

// metav1.Preconditions of a delete. nullopt: not checked.
struct Preconditions {
  std::optional<std::string> uid = {};
  std::optional<std::string> resource_version = {};
};

// metav1.DeletionPropagation; kUnset: the resource's default.
enum class DeletionPropagation : std::uint8_t { kUnset, kOrphan, kBackground, kForeground };

// metav1.DeleteOptions. nullopt: not sent.
struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds = {};
  Preconditions preconditions = {};
  std::optional<bool> orphan_dependents = {};
  DeletionPropagation propagation_policy = DeletionPropagation::kUnset;
  bool dry_run = false;
  // ignoreStoreReadErrorWithClusterBreakingPotential: deletes an object that cannot be read. See
  // UnsafeDeletion.
  bool ignore_store_read_error = false;
};

// Decides whether DeleteOptions may ask to delete an object that cannot be read: the feature gate
// AllowUnsafeMalformedObjectDeletion. kDropped: the request for it is ignored, as in Go.
enum class UnsafeDeletion : std::uint8_t { kDropped, kAllowed };

// Parses the parameters of one verb. kBadRequest: a value does not parse (Go's words). kInvalid
// (kind ListOptions.meta.k8s.io, …): values contradict each other.
Result<GetOptions> ParseGetOptions(const QueryValues& query);
// The same for list and watch. Applies the defaults of watches (WatchList) as
// k8s.io/apimachinery/pkg/apis/meta/internalversion.SetListOptionsDefaults. `forced_watch`: the
// path says watch; as in Go, the parameters are then validated as those of a list unless they say
// so too, and no default applies.
Result<ListOptions> ParseListOptions(const QueryValues& query, bool forced_watch = false);
// The same for create; see ParseGetOptions() for the errors of all of these.
Result<CreateOptions> ParseCreateOptions(const QueryValues& query);
// The same for update.
Result<UpdateOptions> ParseUpdateOptions(const QueryValues& query);
// The same for patch. `apply`: server-side apply, which needs a fieldManager and alone may force.
Result<PatchOptions> ParsePatchOptions(const QueryValues& query, bool apply);
// The same for delete and deletecollection, where the query and not the body has the options.
Result<DeleteOptions> ParseDeleteOptions(const QueryValues& query,
                                         UnsafeDeletion unsafe = UnsafeDeletion::kDropped);
// Reads the options from a body: a decoded DeleteOptions of any group version. kBadRequest: a
// member has another type, in the words of Go's decoder.
Result<DeleteOptions> DeleteOptionsFrom(runtime::Value content,
                                        UnsafeDeletion unsafe = UnsafeDeletion::kDropped);

// Parses a resource version; "" and "0" give 0. kBadRequest: not a decimal uint64.
Result<std::uint64_t> ParseResourceVersion(std::string_view text);

}  // namespace apiserver::inline v0::meta
