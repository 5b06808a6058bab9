#pragma once

#include "apiserver/testing/storage/fault_engine.h"

// Names the fault-injecting storage engine for tests of whole servers.
namespace apiserver::inline v0::testing {

using storage::FaultEngine;
using storage::NewFaultEngine;

}  // namespace apiserver::inline v0::testing
