#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::response {

// A document that is written piece by piece, from parts that are made already: writing it cannot
// fail. Used by one thread at a time, which need not be the one that made it.
class Document {
 public:
  virtual ~Document() = default;
  // Appends to `text` until that has `wanted` bytes or more. False: the document is complete; in
  // compact JSON and in YAML it ends in a newline.
  virtual bool AppendTo(std::string& text, std::size_t wanted) = 0;
};

// Returns a document in JSON indented for people: `begun`, which was written already, and the rest
// of `compact`.
std::unique_ptr<Document> Indented(std::string begun, std::unique_ptr<Document> compact);

// Returns the rest of the document. `expected_bytes`: its length, if the caller knows it, so that
// the text need not move while it grows.
std::string WholeOf(Document& document, std::size_t expected_bytes = 0);

// Answers 200 with the document. A short one gets a Content-Length; a long one is written on the
// loop while it is sent, so that it never exists as a whole, or compressed on the pool.
http::Step SendDocument(http::Exchange& exchange, std::unique_ptr<Document> document);
// Answers 200 with `begun`, which was written already, and the rest of the document, in JSON and
// without a Content-Length: on the loop while it is sent, or, with `gzip`, compressed on the pool.
http::Step StreamDocument(http::Exchange& exchange, std::string begun,
                          std::unique_ptr<Document> document, bool gzip);
// Answers 200 with a document that takes more than copying to write: it is written on the pool,
// about a millisecond's work ahead of the peer, so that neither the loop nor another thread on the
// same CPU waits for the whole. It is longer than kGzipThresholdBytes, and compressed if the client
// accepts that.
http::Step SendDocumentFromPool(http::Exchange& exchange, std::unique_ptr<Document> document,
                                std::string content_type);

}  // namespace apiserver::inline v0::response
