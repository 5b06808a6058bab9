#include "bench/floor_workloads.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/tls.h"
#include "bench/chain_workload.h"
#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/process.h"
#include "bench/series.h"
#include "bench/server_under_test.h"
#include "bench/temporary_folder.h"
#include "codec/protobuf_wire.h"
#include "free_port.h"
#include "storage/etcd/etcd_server.h"

namespace bench {

namespace {

namespace wire = apiserver::codec::wire;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::http::ClientRequest;

constexpr std::size_t kObjectBytes = 1024;
constexpr std::size_t kPuts = 20'000;
constexpr char kPutKey[] = "floor";

// An nghttpd that serves one file, and how to reach it.
struct FileServer {
  Process process;
  std::unique_ptr<ServerUnderTest> server;
};

Result<FileServer> StartFileServer(const std::string& folder) {
  const apiserver::Clock& clock = apiserver::RealClock();
  BENCH_ASSIGN(authority, apiserver::http::NewCertificateAuthority("floor-ca", clock));
  BENCH_ASSIGN(pair,
               apiserver::http::NewCertificate(
                   authority, {.common_name = "floor", .ip_addresses = {"127.0.0.1"}}, clock));
  const int port = FreePort();
  const std::string address = "127.0.0.1:" + std::to_string(port);
  const std::string kubeconfig = apiserver::client::WriteKubeconfig(
      {.server = "https://" + address, .ca_pem = authority.certificate_pem});
  for (const auto& [name, text] : {std::pair{"/key", pair.key_pem},
                                   {"/certificate", pair.certificate_pem},
                                   {"/kubeconfig", kubeconfig},
                                   {"/object", std::string(kObjectBytes, 'x')}}) {
    const Status written = apiserver::RealFileSystem().WriteAtomically(folder + name, text, 0600);
    if (!written.ok()) return written;
  }
  FileServer files;
  BENCH_ASSIGN(process,
               Process::Start({"/usr/sbin/nghttpd", "--address=127.0.0.1", "--htdocs=" + folder,
                               std::to_string(port), folder + "/key", folder + "/certificate"},
                              0));
  files.process = std::move(process);
  BENCH_ASSIGN(server, ServerUnderTest::Attach({.address = address,
                                                .kubeconfig = folder + "/kubeconfig",
                                                .pid = files.process.pid()}));
  files.server = std::move(server);
  return files;
}

// Returns connections to it, once it listens.
Result<Connections> DialWhenUp(apiserver::http::Dialer& dialer, FileServer& files) {
  for (int tries = 0;; ++tries) {
    auto connections = DialMany(dialer, files.server->dial(), 32);
    if (connections.ok() || tries == 500) return connections;
    if (!files.process.Runs()) return Status(Reason::kInternalError, "nghttpd does not come up");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Returns an etcdserverpb.PutRequest behind the five bytes of gRPC.
std::string PutMessage() {
  std::string put;
  wire::PutBytes(1, kPutKey, put);
  wire::PutBytes(2, std::string(kObjectBytes, 'x'), put);
  std::string message(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) message += static_cast<char>(put.size() >> shift);
  return message + put;
}

// Asks etcd for the puts it has done, since h2load counts what was answered.
Status CheckPuts(int port, std::size_t puts) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connection, dialer->Dial(Context::Background(), {.port = port, .http2 = false}));
  BENCH_ASSIGN(answer, connection->Call(Context::Background(), {.method = "POST",
                                                                .target = "/v3/kv/range",
                                                                .headers = {},
                                                                .body = R"({"key":"Zmxvb3I="})"}));
  const std::string version = "\"version\":\"" + std::to_string(puts) + "\"";
  if (answer.body.find(version) != std::string::npos) return {};
  return {Reason::kInternalError, "etcd does not have all puts: " + answer.body.substr(0, 200)};
}

}  // namespace

Status RunHttpFloor(Report& report) {
  BENCH_ASSIGN(folder, TemporaryFolder::New());
  BENCH_ASSIGN(files, StartFileServer(folder.path()));
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialWhenUp(*dialer, files));
  Series series("floor/http", *files.server);
  const Status ran = series.Run(connections, [](int) {
    LoopOptions loop = CachedGets();
    loop.request = [](std::size_t) { return ClientRequest{.target = "/object"}; };
    return loop;
  });
  if (ran.ok()) series.AddTo(report);
  return ran;
}

Status RunEtcdFloor(Report& report) {
  BENCH_ASSIGN(folder, TemporaryFolder::New());
  const std::string message = folder.path() + "/put";
  const Status written = apiserver::RealFileSystem().WriteAtomically(message, PutMessage(), 0600);
  if (!written.ok()) return written;
  BENCH_ASSIGN(etcd, apiserver::storage::etcd::EtcdServer::Start());
  const std::vector<std::string> puts{"h2load",
                                      "--requests=" + std::to_string(kPuts),
                                      "--clients=1",
                                      "--max-concurrent-streams=32",
                                      "--data=" + message,
                                      "--header=content-type: application/grpc",
                                      "--header=te: trailers",
                                      etcd->urls()[0] + "/etcdserverpb.KV/Put"};
  std::vector<double> cpu_us;
  std::vector<double> throughput;
  for (int run = 0; run < kRuns; ++run) {
    const auto started = std::chrono::steady_clock::now();
    BENCH_ASSIGN(process, Process::Start(puts, 0));
    BENCH_ASSIGN(cpu, process.Finish());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    cpu_us.push_back(cpu * 1e6 / kPuts);
    throughput.push_back(kPuts / took.count());
  }
  if (Status all = CheckPuts(etcd->port(0), kPuts * kRuns); !all.ok()) return all;
  report.Add({"floor/etcd", "client_cpu_us_per_op", Median(cpu_us), "us"});
  report.Add({"floor/etcd", "throughput_per_s", Median(throughput), "1/s"});
  return {};
}

}  // namespace bench
