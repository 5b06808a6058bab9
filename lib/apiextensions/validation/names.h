#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/meta/validation.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// Validates names, in spec or status, as far as they are set.
void ValidateNames(const runtime::Value& names, const field::Path& path, field::ErrorList& errors);
// Requires the names without which a spec is not complete.
void RequireNames(const runtime::Value& names, const field::Path& path, field::ErrorList& errors);
// Validates spec.group.
void ValidateGroup(std::string_view group, const field::Path& path, field::ErrorList& errors);
// Requires one of two words.
void ValidateWord(std::string_view word, std::string_view first, std::string_view second,
                  const field::Path& path, field::ErrorList& errors);

// Adds the complaints about a value as one error, if there are any.
void AddComplaints(const meta::Complaints& complaints, std::string_view value,
                   std::string_view prefix, const field::Path& path, field::ErrorList& errors);

}  // namespace apiserver::inline v0::apiextensions
