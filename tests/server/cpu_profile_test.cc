// What a CPU profile is made of.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "decoded_profile.h"
#include "server/debug/cpu_profile.h"
#include "server/debug/loaded_objects.h"

using apiserver::Clock;
using apiserver::NewMemoryFileSystem;
using apiserver::RealClock;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::server::debug::CpuProfile;
using apiserver::server::debug::LoadedObject;
using apiserver::server::debug::LoadedObjects;
using apiserver::server::debug::OpenPerfEvents;
using apiserver::server::debug::ThreadSamples;
using apiserver::testing::DecodedProfile;

namespace {

using Stack = std::vector<std::uint64_t>;

std::uint64_t AddressOf(void (*function)()) { return reinterpret_cast<std::uint64_t>(function); }

void SomeCode() {}

// Samples as a test says.
struct Script {
  Result<std::unique_ptr<ThreadSamples>> Open(int thread) {
    opened.push_back(thread);
    if (refused.contains(thread)) return refused.at(thread);
    return std::make_unique<Scripted>(pending[thread], lost);
  }

  class Scripted final : public ThreadSamples {
   public:
    Scripted(std::vector<Stack>& pending, std::uint64_t& lost) : pending_(pending), lost_(lost) {}
    std::uint64_t Drain(const Take& take) override {
      for (const Stack& stack : std::exchange(pending_, {})) take(stack);
      return std::exchange(lost_, 0);
    }

   private:
    std::vector<Stack>& pending_;
    std::uint64_t& lost_;
  };

  std::map<int, std::vector<Stack>> pending;
  std::map<int, Status> refused;
  std::uint64_t lost = 0;
  std::vector<int> opened;
};

class SteadyClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(passed); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(1'700'000'000) + passed); }
  std::chrono::seconds passed{0};
};

// A /proc with some threads.
struct Fixture {
  Fixture() { Thread(11, "first"); }
  void Thread(int id, const std::string& name) {
    const std::string folder = "/proc/self/task/" + std::to_string(id);
    REQUIRE(files->MakeDirectories(folder, 0700).ok());
    REQUIRE(files->WriteAtomically(folder + "/comm", name + "\n", 0600).ok());
  }
  Result<std::unique_ptr<CpuProfile>> Start(CpuProfile::Limits limits = {}) {
    return CpuProfile::Start({.open = [this](int thread) { return script.Open(thread); },
                              .files = files.get(),
                              .clock = &clock},
                             limits);
  }

  std::unique_ptr<apiserver::FileSystem> files = NewMemoryFileSystem();
  Script script;
  SteadyClock clock;
};

}  // namespace

TEST_CASE("server: a profile counts stacks by thread, with Go's types and period", "[server]") {
  Fixture fixture;
  fixture.Thread(12, "second");
  const std::uint64_t code = AddressOf(&SomeCode);
  auto profile = fixture.Start().value();
  fixture.script.pending[11] = {{code}, {code, code + 1}, {code}};
  fixture.script.pending[12] = {{code}};
  profile->Collect();
  fixture.script.pending[11] = {{code}};
  fixture.clock.passed = std::chrono::seconds(3);

  const DecodedProfile decoded(profile->Finish());

  CHECK(decoded.strings.at(0).empty());
  CHECK(decoded.sample_types == std::vector<std::string>{"samples/count", "cpu/nanoseconds"});
  CHECK(decoded.period_type == "cpu/nanoseconds");
  CHECK(decoded.period == 10'000'000);
  CHECK(decoded.time_nanos == 1'700'000'000'000'000'000);
  CHECK(decoded.duration_nanos == 3'000'000'000);
  CHECK(decoded.comments.empty());
  REQUIRE(decoded.samples.size() == 3);
  CHECK(decoded.samples[0].thread == "first");
  CHECK(decoded.samples[0].count == 3);
  CHECK(decoded.samples[0].nanoseconds == 30'000'000);
  CHECK(decoded.samples[0].stack.size() == 1);
  CHECK(decoded.samples[1].stack.size() == 2);
  CHECK(decoded.samples[1].stack[1].address == code + 1);
  CHECK(decoded.samples[2].thread == "second");
  CHECK(decoded.samples[2].count == 1);
  // The first mapping is the program itself.
  CHECK(decoded.samples[2].stack[0].address == code);
  CHECK(decoded.samples[2].stack[0].mapping.file == decoded.mappings.at(0).file);
}

TEST_CASE("server: a stack ends where it leaves known code", "[server]") {
  Fixture fixture;
  const std::uint64_t code = AddressOf(&SomeCode);
  auto profile = fixture.Start().value();
  fixture.script.pending[11] = {{code, 8, code}, {16, code}};

  const DecodedProfile decoded(profile->Finish());

  REQUIRE(decoded.samples.size() == 2);
  // Code that was made at run time has no mapping, but its time counts.
  CHECK(decoded.samples[0].stack.size() == 2);
  CHECK(decoded.samples[0].stack[0].address == 16);
  CHECK(decoded.samples[0].stack[0].mapping.end == 0);
  REQUIRE(decoded.samples[1].stack.size() == 1);
  CHECK(decoded.samples[1].stack[0].address == code);
}

TEST_CASE("server: threads that begin later are profiled too, and known ones once", "[server]") {
  Fixture fixture;
  auto profile = fixture.Start().value();
  fixture.Thread(12, "late");
  profile->Collect();
  fixture.script.pending[12] = {{AddressOf(&SomeCode)}};
  profile->Collect();

  const DecodedProfile decoded(profile->Finish());

  CHECK(fixture.script.opened == std::vector<int>{11, 12});
  REQUIRE(decoded.samples.size() == 1);
  CHECK(decoded.samples[0].thread == "late");
}

TEST_CASE("server: a profile says what is missing", "[server]") {
  Fixture fixture;
  fixture.Thread(12, "refused");
  fixture.Thread(13, "gone");
  fixture.script.refused = {{12, Status(Reason::kForbidden, "no")},
                            {13, Status(Reason::kNotFound, "gone")}};
  fixture.script.lost = 4;
  const std::uint64_t code = AddressOf(&SomeCode);
  auto profile = fixture.Start({.threads = 4096, .stacks = 1}).value();
  fixture.script.pending[11] = {{code}, {code + 1}, {code}};

  const DecodedProfile decoded(profile->Finish());

  CHECK(decoded.comments == std::vector<std::string>{"5 samples are missing: no room",
                                                     "1 threads are missing at the end"});
  REQUIRE(decoded.samples.size() == 1);
  CHECK(decoded.samples[0].count == 2);
}

TEST_CASE("server: not more threads are profiled than allowed", "[server]") {
  Fixture fixture;
  fixture.Thread(12, "second");
  fixture.Thread(13, "third");
  auto profile = fixture.Start({.threads = 2, .stacks = 10}).value();

  const DecodedProfile decoded(profile->Finish());

  CHECK(fixture.script.opened == std::vector<int>{11, 12});
  CHECK(decoded.comments == std::vector<std::string>{"1 threads are missing at the end"});
}

TEST_CASE("server: what lets no thread be profiled is the error", "[server]") {
  Fixture fixture;
  fixture.script.refused = {{11, Status(Reason::kForbidden, "the kernel says no")}};

  const auto profile = fixture.Start();

  REQUIRE_FALSE(profile.ok());
  CHECK(profile.status().message() == "the kernel says no");
}

TEST_CASE("server: the program's code is known by file and build id", "[server]") {
  const std::vector<LoadedObject> objects = LoadedObjects();
  const std::uint64_t code = AddressOf(&SomeCode);

  const auto own = std::find_if(objects.begin(), objects.end(), [code](const LoadedObject& object) {
    return object.begin <= code && code < object.end;
  });

  REQUIRE(own != objects.end());
  CHECK(own->file == objects.front().file);
  CHECK(own->file == std::filesystem::read_symlink("/proc/self/exe").string());
  CHECK(own->build_id == objects.front().build_id);
  CHECK(own->build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
  // The kernel's view of the same piece.
  const std::string maps = apiserver::RealFileSystem().Read("/proc/self/maps").value();
  std::ostringstream line;
  line << std::hex << own->begin << "-" << own->end << " r-xp ";
  CHECK(maps.find(line.str()) != std::string::npos);
}

TEST_CASE("server: no thread has no samples", "[server]") {
  // The greatest id there can be is 4194303.
  const auto samples = OpenPerfEvents(4'194'305);

  REQUIRE_FALSE(samples.ok());
  CHECK(samples.status().message().starts_with("perf_event_open: "));
}
