#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::openapi {

// The form of a document.
enum class Format : std::uint8_t { kV2, kV3 };

// The title and version of a document.
struct Info {
  std::string title = "Kubernetes";
  std::string version = "unversioned";
};

// A Fragment is what one resource adds to the documents, written by itself as JSON rather than made
// of a Kind and of routes. Any thread may call its methods; they must not block. Those that append
// take long if a schema is large, so they are called on the pool.
class Fragment {
 public:
  virtual ~Fragment() = default;
  // Returns a hash of everything that the texts are made of, known without making them.
  virtual std::string_view hash() const = 0;
  // Returns the title of a document of v3 that is made of fragments alone.
  virtual Info info() const = 0;
  // Returns the names of the definitions that it refers to without having them: those of meta/v1,
  // and of Kinds().
  virtual std::span<const std::string_view> References() const = 0;
  // Returns kinds that other resources refer to as well, such as autoscaling/v1 Scale.
  virtual std::vector<runtime::KindPtr> Kinds() const = 0;
  // Returns the names of its definitions: those of other servers get other names. Empty: it is not
  // known before they are made.
  virtual std::vector<std::string> Names() const { return {}; }
  // Appends members of "paths", separated by commas. Parameters that the paths refer to, which only
  // v2 has, are put into `parameters` by name.
  virtual void AppendPaths(Format format, std::string& json,
                           std::map<std::string, std::string>& parameters) const = 0;
  // Appends members of "definitions", or of "components" and "schemas", separated by commas.
  virtual void AppendDefinitions(Format format, std::string& json) const = 0;
};
using FragmentPtr = std::shared_ptr<const Fragment>;

}  // namespace apiserver::inline v0::openapi
