#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

namespace apiextensions_test {

// Returns the object of a JSON text as the server settles it.
std::unique_ptr<apiserver::runtime::Object> DefinitionOf(const std::string& json);

std::string JsonOf(const apiserver::runtime::Value& value);

// Returns the messages of errors, sorted.
std::vector<std::string> MessagesOf(const apiserver::field::ErrorList& errors);

// Returns the errors of the create of a definition, or of an update.
std::vector<std::string> ErrorsOf(const std::string& json);
std::vector<std::string> ErrorsOf(const std::string& json, const std::string& old);

// Returns the errors of an update by a client that gives the resourceVersion.
std::vector<std::string> UpdateErrorsOf(const std::string& json, const std::string& old);

// Returns a definition with one version, whose schema is given.
std::string WithSchema(const std::string& schema);

}  // namespace apiextensions_test
