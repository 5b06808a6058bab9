#pragma once

#include "apiserver/program/signals/run_until_signal.h"

// The library's functions under the name of the examples.
namespace examples {

using apiserver::program::BlockSignals;
using apiserver::program::Fail;
using apiserver::program::RunUntilSignal;

}  // namespace examples
