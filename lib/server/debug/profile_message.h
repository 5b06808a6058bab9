#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/debug/loaded_objects.h"

namespace apiserver::inline v0::server::debug {

// Writes perftools.profiles.Profile of github.com/google/pprof/proto/profile.proto: samples of
// processor time. The samples come first, the rest in Finish().
class ProfileMessage {
 public:
  explicit ProfileMessage(std::vector<LoadedObject> objects);

  // Adds a stack in the form of ThreadSamples::Take. It is cut where it leaves all known code: code
  // compiled without frame pointers leaves no trace of its callers.
  void AddSample(std::string_view thread_name, const std::vector<std::uint64_t>& stack,
                 std::int64_t count);
  struct Facts {
    std::int64_t began_nanoseconds = 0;  // Nanoseconds since 1970.
    std::int64_t lasted_nanoseconds = 0;
    std::vector<std::string> remarks;
  };
  std::string Finish(const Facts& facts) &&;

 private:
  struct Location {
    std::uint64_t id;
    std::size_t object;  // Index + 1; 0: none.
  };

  // Returns index + 1 of the object that `address` lies in; 0: none.
  std::size_t ObjectOf(std::uint64_t address) const;
  std::uint64_t LocationId(std::uint64_t address, std::size_t object);
  std::int64_t StringIndex(std::string_view text);
  void PutValueType(int number, std::string_view type, std::string_view unit);
  void PutObjects();
  void PutLocations();
  void PutStrings();

  const std::vector<LoadedObject> objects_;
  std::map<std::uint64_t, Location> locations_;  // By address.
  std::map<std::string, std::int64_t, std::less<>> string_index_;
  std::vector<std::string> strings_;
  std::string message_;
};

}  // namespace apiserver::inline v0::server::debug
