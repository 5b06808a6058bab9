#include "base/thread_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace apiserver::v0 {

// Reads the third field of proc(5)'s /proc/PID/stat, behind the name in parentheses, which may have
// some of its own.
bool IsRunnable(int kernel_id) {
  const std::string path = "/proc/self/task/" + std::to_string(kernel_id) + "/stat";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 64> bytes{};
  const ssize_t got = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  if (got <= 0) return false;
  const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  const std::size_t end = text.rfind(") ");
  return end != std::string_view::npos && text.substr(end + 2, 1) == "R";
}

}  // namespace apiserver::v0
