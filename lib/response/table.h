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
  // If set, columnDefinitions is written; otherwise null, as in all but a watch's first event.
  bool with_columns = true;
  // The resource version of a DELETED event's row. Empty: the object's own.
  std::string resource_version = {};
  codec::EncodingShare encodings = {};
  // The JSON encodings of the objects, one each. Empty: they are looked up.
  std::span<const runtime::EncodingPtr> kept = {};
};

// Makes a Table of `objects` in JSON: converts them, and encodes the parts that the rows show,
// which takes time and may fail. `list_meta_json` is the Table's metadata.
Result<std::unique_ptr<Document>> NewTableDocument(const Context& ctx,
                                                   const std::vector<runtime::ObjectPtr>& objects,
                                                   const std::string& list_meta_json,
                                                   const TableRequest& request);

}  // namespace apiserver::inline v0::response
