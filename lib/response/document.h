#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::response {

// A JSON document that is written piece by piece, from parts that are made already: writing it
// cannot fail. Used by one thread at a time, which need not be the one that made it.
class Document {
 public:
  virtual ~Document() = default;
  // Appends to `text` until that has `wanted` bytes or more. False: the document is complete, and
  // ends in a newline.
  virtual bool AppendTo(std::string& text, std::size_t wanted) = 0;
};

// Returns the rest of the document.
std::string WholeOf(Document& document);

// Answers 200 with the document. A short one gets a Content-Length; a long one is written on the
// loop while it is sent, so that it never exists as a whole, or compressed on the pool.
http::Step SendDocument(http::Exchange& exchange, std::unique_ptr<Document> document);

}  // namespace apiserver::inline v0::response
