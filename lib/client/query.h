#pragma once

#include <string>
#include <string_view>

#include "apiserver/meta/options.h"

namespace apiserver::inline v0::client {

// Builds the query of a URL from the options of a call: "?limit=5&watch=true", or nothing.
class QueryBuilder {
 public:
  // Adds a parameter unless its value is empty.
  void Add(std::string_view key, std::string_view value);
  void AddFlag(std::string_view key, bool value);
  void Add(const meta::ListOptions& options);
  // The parameters of create and update.
  void Add(const meta::CreateOptions& options);
  void Add(const meta::PatchOptions& options);

  const std::string& text() const { return text_; }

 private:
  void AddFieldValidation(meta::FieldValidation validation);

  std::string text_;
};

// Returns the JSON body of a delete.
std::string DeleteBody(const meta::DeleteOptions& options);

}  // namespace apiserver::inline v0::client
