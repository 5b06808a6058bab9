#include "explorer/files.h"

#include <algorithm>

namespace apiserver::v0::explorer {

const File* FindFile(std::string_view name) {
  const auto files = Files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [name](const File& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace apiserver::v0::explorer
