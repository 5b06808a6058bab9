#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/meta/table.h"
#include "response/document.h"
#include "response/negotiate.h"

namespace apiserver::inline v0::response {

struct TableRequest {
  const Target& target;
  const meta::TableOptions& options;
  const std::string& meta_version;
  // False: columnDefinitions is null, as on all but a watch's first event.
  bool with_columns = true;
  // Of a DELETED event's row; empty: the object's own.
  std::string resource_version = {};
  codec::EncodingShare encodings = {};
  // In JSON, of each of the objects; empty: they are looked up.
  std::span<const runtime::EncodingPtr> kept = {};
};

// `objects` as a Table in JSON: converts them and encodes what the rows show of them, which is what
// takes time and may fail. `list_meta_json` is the Table's metadata.
Result<std::unique_ptr<Document>> NewTableDocument(const Context& ctx,
                                                   const std::vector<runtime::ObjectPtr>& objects,
                                                   const std::string& list_meta_json,
                                                   const TableRequest& request);

}  // namespace apiserver::inline v0::response
