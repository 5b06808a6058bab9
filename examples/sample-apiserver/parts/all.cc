#include <utility>

#include "parts/parts.h"

namespace sample {

Parts AllParts() {
  Parts parts;
  parts.push_back(NewServerRun());
  return parts;
}

}  // namespace sample
