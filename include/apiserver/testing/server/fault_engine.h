#pragma once

#include "apiserver/testing/storage/fault_engine.h"

// Engines that fail, for tests of whole servers.
namespace apiserver::inline v0::testing {

using storage::FaultEngine;
using storage::NewFaultEngine;

}  // namespace apiserver::inline v0::testing
