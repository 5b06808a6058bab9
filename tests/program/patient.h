#pragma once

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/server/standalone.h"
#include "apiserver/storage/rocks/engine.h"
#include "apiserver/testing/server/fake_clock.h"
#include "program/examination.h"

namespace apiserver::inline v0::program {

// A socket that is bound to a free port of the loopback.
class BoundSocket {
 public:
  BoundSocket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    (void)bind(fd_, reinterpret_cast<const sockaddr*>(&address_), size);
    (void)getsockname(fd_, reinterpret_cast<sockaddr*>(&address_), &size);
  }
  ~BoundSocket() { close(fd_); }
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;

  int port() const { return ntohs(address_.sin_port); }
  void Listen() const { (void)listen(fd_, 1); }

 private:
  int fd_;
  sockaddr_in address_{};
};

// A server that has run once and stopped: its flags and its data directory.
class Patient {
 public:
  using Complaints = std::vector<std::string>;

  Patient() {
    std::string name = std::filesystem::temp_directory_path() / "apiserver-test-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
    values.data_dir = folder_ + "/data";
    values.recommended.secure_serving.secure_port = BoundSocket().port();
    (void)FinishFlags(values);
    const auto standalone =
        server::NewStandalone({.data_dir = values.data_dir, .clock = &clock}).value();
    (void)standalone.WriteKubeconfig(values.kubeconfig_out,
                                     values.recommended.secure_serving.secure_port);
    (void)storage::rocks::Open({.path = values.data_dir + "/rocks"});
    std::filesystem::permissions(values.data_dir, std::filesystem::perms::owner_all);
  }
  ~Patient() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;

  // A path beside the data directory, and a file there with `text` that only its owner may read.
  std::string Beside(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = Beside(name);
    std::filesystem::remove(path);  // Only root could overwrite it.
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }
  std::string Pki(const std::string& name) const { return values.data_dir + "/pki/" + name; }

  ExaminationOptions options() const {
    return {.values = values,
            .program = program,
            .clock = clock,
            .space = space,
            .inspect_etcd = inspect_etcd,
            .open_files = [this] { return open_files; },
            .try_profile = [this] { return profile; }};
  }
  std::vector<delegation::Finding> Findings() const { return Examine(options()); }
  // "warning secret-file" for each finding that is not well.
  static Complaints ComplaintsOf(const std::vector<delegation::Finding>& findings) {
    using Level = delegation::Finding::Level;
    Complaints complaints;
    for (const auto& each : findings) {
      if (each.level == Level::kWarning) complaints.push_back("warning " + each.check);
      if (each.level == Level::kProblem) complaints.push_back("problem " + each.check);
    }
    return complaints;
  }
  Complaints Complains() const { return ComplaintsOf(Findings()); }
  // The checks that a repair has changed something for; after it nothing is left to say.
  std::vector<std::string> Repaired() const {
    std::vector<std::string> repaired;
    for (const auto& each : Repair(options())) {
      if (each.repaired) repaired.push_back(each.check);
    }
    return repaired;
  }
  // The text of the first finding of `check` that is not well.
  std::string TextOf(const std::string& check) const {
    for (const auto& each : Findings()) {
      if (each.check == check && each.level != delegation::Finding::Level::kOk) return each.text;
    }
    return "";
  }

  // The modes, times and bytes of all files of the data directory.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& each : std::filesystem::recursive_directory_iterator(values.data_dir)) {
      std::ostringstream text;
      text << std::oct << static_cast<unsigned>(each.status().permissions()) << ' '
           << each.last_write_time().time_since_epoch().count() << ' ';
      if (each.is_regular_file()) text << std::ifstream(each.path()).rdbuf();
      contents[each.path()] = text.str();
    }
    return contents;
  }

  apiserver::testing::FakeClock clock;
  Program program{.name = "patient", .install = [](auto&, const auto&) { return Status(); }};
  Values values{program};
  std::function<Result<Space>(const std::string&)> space = [](const std::string&) {
    return Space{.free = std::uint64_t{1} << 40, .total = std::uint64_t{1} << 41};
  };
  // No member of an etcd is asked unless a test says what is answered.
  std::vector<storage::etcd::MemberReport> members;
  std::function<Result<std::vector<storage::etcd::MemberReport>>(const storage::etcd::Options&,
                                                                 std::chrono::milliseconds)>
      inspect_etcd = [this](const auto&, auto) { return Result(members); };
  OpenFiles open_files = {.soft = 1024, .hard = 1'048'576};
  Status profile;

 private:
  std::string folder_;
};

}  // namespace apiserver::inline v0::program
