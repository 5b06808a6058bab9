#pragma once

#include <memory>

#include "apiserver/patch/apply/updater.h"
#include "patch/apply/upstream.h"

namespace apiserver::inline v0::testing {

// The converter that a recorded update or apply ran with, written anew. Borrows `recording`.
std::unique_ptr<patch::apply::Converter> ConverterOf(runtime::Value step, Recording& recording);

}  // namespace apiserver::inline v0::testing
