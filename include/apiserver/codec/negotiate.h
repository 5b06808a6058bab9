#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::codec {

// One clause of an Accept header: "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9". Names are
// in lower case.
struct AcceptClause {
  std::string type;     // "application"; "*".
  std::string subtype;  // "json"; "*".
  double q = 1;
  std::vector<std::pair<std::string, std::string>> parameters;  // Without q.

  // Returns a parameter; empty if it is absent.
  std::string_view Parameter(std::string_view name) const;
  // True if the clause covers "application/json" and the like; wildcards count.
  bool Covers(std::string_view media_type) const;
};

// Parses an Accept header. Returns the clauses in the order in which to try them, as goautoneg
// does: by q, specific ones before wildcards, else as written. Malformed clauses are dropped.
std::vector<AcceptClause> ParseAccept(std::string_view header);

}  // namespace apiserver::inline v0::codec
