#pragma once

#include <string_view>

#include "apiextensions/validation/demands.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// The parts of a definition beside names, versions and schemas.
namespace apiserver::inline v0::apiextensions {

// Validates spec.conversion.
void ValidateConversion(const runtime::Value& conversion, const Demands& demands,
                        field::ErrorList& errors);
// Validates additionalPrinterColumns; `path` is the list's.
void ValidateColumns(const runtime::Value& columns, const field::Path& path,
                     field::ErrorList& errors);
// Validates the scale subresource; `path` is that of subresources.
void ValidateSubresources(const runtime::Value& subresources, const field::Path& path,
                          field::ErrorList& errors);
// Validates selectableFields. `too_many`: there may be more than 8 of them.
void ValidateSelectableFields(const runtime::Value& fields, const runtime::Schema& schema,
                              bool too_many, const field::Path& path, field::ErrorList& errors);

// Tells if a version of conversion reviews is one that the server knows.
bool IsRecognizedReviewVersion(std::string_view version);

}  // namespace apiserver::inline v0::apiextensions
