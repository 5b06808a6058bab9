#pragma once

#include <chrono>
#include <string>

#include "apiserver/controller/work_queue.h"

namespace controller_test {

// Limits a wait for something that usually comes within milliseconds.
inline constexpr auto kPatience = std::chrono::seconds(30);

// Takes the keys that are there now; returns them with a space between.
inline std::string TakeAll(apiserver::controller::WorkQueue& queue) {
  std::string all;
  while (const auto key = queue.TryGet()) {
    all += (all.empty() ? "" : " ") + key->ToString();
    queue.Done(*key);
  }
  return all;
}

}  // namespace controller_test
