#pragma once

#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// Fill `response` except for its revision. The caller holds a pass of the gate.
//
// Reads the state in `live`. kNotFound: a value is not kept any more, so that `live` is too old to
// be read. kWouldBlock: a value is on disk and `may_block` is false.
Status ReadLive(const Store& store, const LiveTree& live, const kv::RangeRequest& request,
                bool may_block, kv::RangeResponse& response);
// Reads the state as of request.at_revision from disk. Values compacted meanwhile may be missing:
// the caller checks afterwards.
Status ReadHistory(const Store& store, const kv::RangeRequest& request,
                   kv::RangeResponse& response);
// Returns the change of `record`, with its values.
Result<kv::Event> ReadEvent(const Database& database, Revision revision, const LogRecord& record);

}  // namespace apiserver::inline v0::storage::rocks
