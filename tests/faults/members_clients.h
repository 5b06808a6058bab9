#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "faults/members_history.h"

// The load of the runs with etcd's members: writers and watches of whatever there is to write to
// and to watch, and what they count.
namespace apiserver::inline v0::faults {

// What all clients of a run share.
class Scoreboard {
 public:
  struct Failures {
    std::size_t count = 0;
    std::string example;
  };

  void Acknowledged(Revision revision);
  // `what` failed: "write", "list".
  void Failed(const std::string& what, const Status& why);
  // Nothing may be acknowledged from now on: the time until then is no outage.
  void EndOfWrites();

  std::size_t acknowledged() const { return acknowledged_.load(); }
  // Of all acknowledged writes.
  Revision last_revision() const { return last_revision_.load(); }
  std::map<std::string, Failures> failures() const { return *failures_.Lock(); }
  // Times without an acknowledgement that were longer than kOutage, in order of their length.
  std::vector<std::chrono::milliseconds> outages() const;

  static constexpr std::chrono::milliseconds kOutage{250};

 private:
  struct Pauses {
    std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
    std::vector<std::chrono::milliseconds> long_ones;
  };

  std::atomic<std::size_t> acknowledged_ = 0;
  std::atomic<Revision> last_revision_ = 0;
  Guarded<std::map<std::string, Failures>> failures_;
  Guarded<Pauses> pauses_;
};

// The revision of the write. kNotFound, kAlreadyExists and kConflict: it has not happened; other
// errors: it may have.
class WriteTarget {
 public:
  virtual ~WriteTarget() = default;
  virtual Result<Revision> Create(const std::string& key, std::int64_t value) = 0;
  virtual Result<Revision> Update(const std::string& key, std::int64_t value) = 0;
  virtual Result<Revision> Delete(const std::string& key) = 0;
};

// One open watch.
class WatchSource {
 public:
  virtual ~WatchSource() = default;
  // Appends what came, waiting for at most `patience`. An error: it is over.
  virtual Status Next(std::vector<Change>& changes, std::chrono::milliseconds patience) = 0;
};
// A watch of what happens from a revision on.
using OpenWatch = std::function<Result<std::unique_ptr<WatchSource>>(Revision from)>;

struct WriterOptions {
  std::uint64_t seed = 1;
  std::size_t writer = 0;
  std::size_t keys = 40;  // Shared with the other writers, half of them "even/", half "odd/".
  std::chrono::milliseconds pause{8};  // After each write.
};

// Creates, updates and deletes until `stop`; returns what it did.
std::vector<MemberWrite> WriteUntil(const Notification& stop, WriteTarget& target,
                                    Scoreboard& scores, const WriterOptions& options);

// A watch that is opened again where it was, or from now on, whenever it ends.
class WatchClient {
 public:
  struct Options {
    std::string name;
    std::string prefix;
    bool resumes_where_it_was = true;
    // Gives the watch up after so long and opens it again; zero: never.
    std::chrono::milliseconds hop{0};
  };
  // `scores` outlives it. Begins at revision 2, the first write.
  WatchClient(Options options, OpenWatch open, Scoreboard& scores);
  ~WatchClient() { (void)Finish(0, std::chrono::milliseconds(0)); }

  // Waits until it was told of `last`, for at most `patience`; returns what it was told.
  MemberWatch Finish(Revision last, std::chrono::milliseconds patience);
  const std::string& prefix() const { return options_.prefix; }

 private:
  struct Wish {
    bool asked = false;
    Revision last = 0;
    std::chrono::steady_clock::time_point give_up;
  };
  void Run();
  void Read(WatchSource& source);
  bool Done() const;

  const Options options_;
  const OpenWatch open_;
  Scoreboard& scores_;
  Guarded<Wish> wish_;
  MemberWatch seen_;  // The thread's, until it has ended.
  Revision last_ = 1;
  Thread thread_;
};

}  // namespace apiserver::inline v0::faults
