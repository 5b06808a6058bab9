#pragma once

namespace apiserver::inline v0 {

// Reports whether a thread of this process runs or waits for nothing but a CPU. False if it waits
// for anything else, or cannot be looked at. `kernel_id`: of gettid(2). Any thread.
bool IsRunnable(int kernel_id);

}  // namespace apiserver::inline v0
