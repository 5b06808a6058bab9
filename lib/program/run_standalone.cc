#include "apiserver/program/run_standalone.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/directory_lock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/progress.h"
#include "apiserver/base/random.h"
#include "apiserver/base/verbosity.h"
#include "apiserver/explorer/explorer.h"
#include "apiserver/program/signals/passed_socket.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/etcd/engine.h"
#include "apiserver/storage/kms/provider.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/storage/rocks/engine.h"
#include "base/status_macros.h"
#include "program/cluster.h"
#include "program/command_line.h"
#include "program/completion.h"
#include "program/doctor.h"
#include "program/export.h"
#include "program/groups.h"
#include "program/man_page.h"
#include "program/progress_bar.h"

namespace apiserver::v0::program {

namespace {

// Less than the 10 s that docker stop leaves a process.
constexpr std::chrono::seconds kShutdownGrace(4);
constexpr std::chrono::seconds kClientCaPeriod(1);

// RocksDB and etcd keep objects over restarts; memory is for trying things out.
Result<std::unique_ptr<storage::kv::Engine>> OpenEngine(
    const Values& values, const std::shared_ptr<ProgressSink>& progress, LogSink& log) {
  if (values.storage == "memory") return storage::memory::NewEngine();
  if (values.storage == "etcd") {
    const options::EtcdOptions& etcd = values.recommended.etcd;
    return storage::etcd::Open({.servers = etcd.servers,
                                .ca_file = etcd.ca_file,
                                .cert_file = etcd.cert_file,
                                .key_file = etcd.key_file,
                                .user = etcd.user,
                                .password_file = etcd.password_file,
                                .health_timeout = etcd.healthcheck_timeout,
                                .compaction_interval = etcd.compaction_interval,
                                .progress = progress,
                                .log = log});
  }
  return storage::rocks::Open(
      {.path = values.data_dir + "/rocks", .log = log, .progress = progress});
}

using ClientAuthorities = std::shared_ptr<Variable<std::string>>;

const std::string& ClientCaFile(const Values& values) {
  return values.recommended.authentication.values.client_ca_file;
}

// The certificates are made here on the first start and read from the directory later.
Result<server::Standalone> NewStandalone(const Values& values, const ClientAuthorities& client_ca) {
  server::StandaloneOptions standalone;
  values.recommended.secure_serving.ApplyTo(standalone);
  if (!ClientCaFile(values).empty()) standalone.client_ca = client_ca;
  auto made = server::NewStandalone(standalone);
  if (made.ok()) made->serving.socket = values.socket;
  return made;
}

// Lets the server listen on the socket that the service manager has passed, if there is one. Its
// address takes the place of that of the flags, in certificates and kubeconfigs, too.
Status UsePassedSocket(Values& values) {
  ASSIGN_OR_RETURN(const auto passed, TakePassedSocket());
  if (!passed) return {};
  values.socket = passed->fd;
  values.recommended.secure_serving.bind_address = passed->address;
  values.recommended.secure_serving.secure_port = passed->port;
  return {};
}

// Returns what puts the contents of --client-ca-file into `bundle` whenever the file changes. Null:
// there is no such flag.
Result<std::unique_ptr<WatchedFiles>> FollowClientAuthorities(const Values& values,
                                                              const std::string& own_ca,
                                                              const ClientAuthorities& bundle,
                                                              server::GenericAPIServer& api,
                                                              LogSink& log) {
  if (ClientCaFile(values).empty()) return std::unique_ptr<WatchedFiles>();
  return server::FollowClientCa(ClientCaFile(values), own_ca, kClientCaPeriod, bundle,
                                {.files = RealFileSystem(), .executor = api.pool(), .log = log});
}

std::string Suggestions(const Program& program, const std::string& kubeconfig) {
  const std::string kubectl = "  kubectl --kubeconfig " + kubeconfig + " ";
  std::string text = "try:\n" + kubectl + "api-resources\n";
  for (const std::string& each : program.suggestions) text += kubectl + each + "\n";
  return text;
}

// The page's address with the administrator's token, which the page takes out of it. Only for a
// terminal: logs keep what they are given, and a token does not belong there.
std::string PageAddress(const std::string& url, const std::string& token) {
  const std::string page = url + explorer::Options().path;
  if (isatty(STDOUT_FILENO) == 0) return "or open: " + page + "\n";
  return "or open, as the administrator:\n  " + page + "#token=" + token + "\n";
}

// Writes the kubeconfig and says what to do with it. Users of a server behind an aggregator have
// the cluster's.
void Announce(const Values& values, const Program& program, const server::Standalone& standalone,
              int port) {
  std::string text = "ready: " + standalone.Url(port);
  if (!values.recommended.standalone) {
    (void)Print({.text = text + ", for the cluster's aggregator\n"});
    return;
  }
  if (!standalone.unverifiable.empty()) {
    std::fprintf(stderr, "warning: %s\n", standalone.unverifiable.c_str());
  }
  const Status written = standalone.WriteKubeconfig(values.kubeconfig_out, port);
  if (!written.ok()) {
    (void)Fail(written);
    return;
  }
  const options::EtcdOptions& etcd = values.recommended.etcd;
  const std::string place =
      values.storage == "etcd" ? etcd.servers[0] + etcd.prefix : values.data_dir;
  text += " (" + values.storage + " in " + place + ")\n";
  text += Suggestions(program, values.kubeconfig_out);
  if (values.explorer) text += PageAddress(standalone.Url(port), standalone.token);
  (void)Print({.text = text});
}

// Returns the part of the configuration that no flag changes.
server::Config NewConfig(const Program& program, VerbositySink& log) {
  server::Config config;
  config.name = program.name;
  config.admission = program.admission;
  config.openapi_title = program.openapi_title;
  config.openapi_version = program.version;
  config.shutdown_grace = kShutdownGrace;
  config.log = &log;
  config.set_verbosity = [&log](std::uint32_t verbosity) {
    log.SetVerbosity(verbosity);
    return Status();
  };
  return config;
}

// Null: standard error is not a terminal.
std::shared_ptr<ProgressBar> BarOnStandardError() {
  const char* const term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): one thread yet
  return NewProgressBar(STDERR_FILENO, term != nullptr ? term : "");
}

// 0700: the directory holds keys.
Result<std::unique_ptr<DirectoryLock>> LockDataDir(const Values& values) {
  RETURN_IF_ERROR(RealFileSystem().MakeDirectories(values.data_dir, 0700));
  auto lock = LockDirectory(values.data_dir);
  if (lock.status().reason() != Reason::kConflict) return lock;
  return Status(Reason::kConflict,
                "--data-dir: " + std::string(lock.status().message()) +
                    "; give this server a directory of its own, or stop the other one");
}

// The host's function comes last and may change whatever the flags have set.
Result<std::unique_ptr<server::GenericAPIServer>> NewServer(const Program& program,
                                                            server::Config config) {
  if (program.configure) RETURN_IF_ERROR(program.configure(config));
  ASSIGN_OR_RETURN(server::CompletedConfig completed, std::move(config).Complete());
  return std::move(completed).New();
}

// Serves until a signal comes, and sets the program's exit code.
// The order of the variables is that of their destruction in reverse: server before storage,
// storage before the log.
Status Serve(Values& values, const Program& program, int& exit_code) {
  const auto standard_error = NewStderrLogSink(LogLevel::kDebug);
  const std::shared_ptr<ProgressBar> bar = BarOnStandardError();
  LogAboveBar above_bar(*standard_error, bar.get());
  const auto log = std::make_unique<VerbositySink>(above_bar, values.v);
  // The server uses what these own, and they log: they are destroyed after it and before the log.
  const auto identifiers = NewBufferedRandom(SecureRandom());
  const auto tokens = program.tokens ? program.tokens : std::make_shared<groups::TokenObjects>();
  options::Recommended made;
  // First: while another server runs in the directory, the kubeconfig there is that server's.
  ASSIGN_OR_RETURN(const auto lock, LockDataDir(values));
  if (program.open) RETURN_IF_ERROR(program.open(values.data_dir));
  if (program.complete) RETURN_IF_ERROR(program.complete(values.recommended));
  const auto client_ca = std::make_shared<Variable<std::string>>("");
  ASSIGN_OR_RETURN(const server::Standalone standalone, NewStandalone(values, client_ca));
  // The engine opens before there is a server, so both are given the same sink.
  const auto progress =
      NewProgressLog({.log = log.get(), .metrics = standalone.metrics, .next = bar});
  ASSIGN_OR_RETURN(const auto engine, OpenEngine(values, progress, *log));

  server::Config config = NewConfig(program, *log);
  standalone.Apply(config);
  config.progress = progress;
  values.recommended.built_in_authentication.service_accounts.getter = tokens;
  values.recommended.built_in_authentication.secrets = tokens->BootstrapSecrets();
  const options::Environment environment{.in_cluster = InPod(), .log = log.get()};
  RETURN_IF_ERROR(values.recommended.ApplyTo(config, environment, made));
  ASSIGN_OR_RETURN(const auto api, NewServer(program, std::move(config)));
  ASSIGN_OR_RETURN(const auto authorities,
                   FollowClientAuthorities(values, standalone.ca_pem, client_ca, *api, *log));
  registry::StorageConfig stores{.engine = engine.get(), .random = identifiers.get()};
  ASSIGN_OR_RETURN(
      const auto encryption,
      values.recommended.etcd.ApplyTo(
          stores, *api, storage::kms::NewProviders({.executor = &api->pool(), .log = log.get()}),
          environment));
  RETURN_IF_ERROR(
      InstallGroups({values.recommended, made, tokens, !program.tokens, *log}, *api, stores));
  RETURN_IF_ERROR(program.install(*api, stores));
  if (values.explorer) RETURN_IF_ERROR(explorer::Install(*api));
  RETURN_IF_ERROR(api->PrepareRun());

  exit_code = RunUntilSignal(
      *api, [&] { Announce(values, program, standalone, api->port()); },
      [&bar] {
        if (bar != nullptr) bar->Hide();
      });
  return {};
}

}  // namespace

// "doctor" and the like are commands of their own and have their own flags, so they are told apart
// before flags are read.
int RunStandalone(int argc, const char* const* argv, const Program& program) {
  if (program.name.empty() || !program.install) {
    return Fail({Reason::kInvalid, "a program::Program needs a name and `install`"});
  }
  if (argc > 1 && argv[1] == std::string_view("doctor")) {
    return DoctorMain(argc - 1, argv + 1, program);
  }
  if (argc > 1 && argv[1] == std::string_view("completion")) {
    return CompletionMain(argc - 1, argv + 1, program);
  }
  if (argc > 1 && argv[1] == std::string_view("man")) return ManMain(program);
  if (argc > 1 && IsExport(argv[1])) return ExportMain(argc - 1, argv + 1, program);
  // Before any thread starts: threads inherit the mask, and a signal must come to RunUntilSignal().
  BlockSignals();
  CommandLine line = ParseCommandLine(argc, argv, program);
  if (line.reading.exit) return Print(line.reading);
  if (const Status status = UsePassedSocket(line.values); !status.ok()) return Fail(status);
  int exit_code = kExitOk;
  const Status served = Serve(line.values, program, exit_code);
  return served.ok() ? exit_code : Fail(served);
}

}  // namespace apiserver::v0::program
