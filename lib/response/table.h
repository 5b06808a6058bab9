#pragma once

#include <span>
#include <string>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/meta/table.h"
#include "response/negotiate.h"

namespace apiserver::inline v0::response {

// `objects` as Table JSON, without trailing newline. `list` gives the list's metadata, may be null;
// `with_columns` false: columnDefinitions is left out, as on all but a watch's first event.
struct TableRequest {
  const Target& target;
  const meta::TableOptions& options;
  const std::string& meta_version;
  bool with_columns = true;
  // Of a DELETED event's row; empty: the object's own.
  std::string resource_version = {};
  codec::EncodingShare encodings = {};
  // In JSON, of each of the objects; empty: they are looked up.
  std::span<const runtime::EncodingPtr> kept = {};
};
Result<std::string> TableJson(const Context& ctx, const std::vector<runtime::ObjectPtr>& objects,
                              const std::string& list_meta_json, const TableRequest& request);

}  // namespace apiserver::inline v0::response
