#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/base/status.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/options/recommended.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/names.h"
#include "apiserver/server/server.h"

// A whole server program. The rooms program and program.signals are the only ones of the library
// that read argv, handle signals, write to standard output and choose exit codes; a host with a
// main() of its own uses apiserver::options and apiserver::server instead.
//
// Go: k8s.io/sample-apiserver/pkg/cmd/server, NewCommandStartWardleServer.
namespace apiserver::inline v0::program {

// The exit codes of a program.
inline constexpr int kExitOk = 0;  // Stopped by a signal; --help, --version; doctor: no problem.
// The command line is refused for another reason than an unknown flag (a value that cannot be read,
// flags that contradict each other, an argument that is no flag), or the server cannot start, or
// doctor has found a problem. Standard error has a line `error: <what>` with the remedy.
inline constexpr int kExitFailure = 1;
// The command line has an unknown flag. Standard error names it and the nearest known one:
// `error: unknown flag: --secure-prot; did you mean --secure-port?`
inline constexpr int kExitUnknownFlag = 2;

// The parts of a server program that are not the library's.
struct Program {
  // Required. The program's name: in logs and metrics, in --version, and as the folder of its data,
  // $XDG_DATA_HOME/<name> or ~/.local/share/<name>.
  std::string name = {};
  // The first line of --help. Empty: a sentence with the name.
  std::string description = {};
  // The version of the program's API, for OpenAPI documents and --version.
  std::string version = "unversioned";
  std::string openapi_title = "Kubernetes";
  // The default of --etcd-prefix.
  std::string etcd_prefix = "/registry";
  // The program's admission plugins, in the order in which they run. Flags may turn them off by
  // their names.
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};
  // The namespaces for webhooks and policies: options::AdmissionOptions::namespaces. Null: each has
  // its name and the label kubernetes.io/metadata.name.
  std::shared_ptr<const admission::Namespaces> namespaces = nullptr;
  // The versions for which `doctor` expects an APIService. Empty: it looks at no APIServices.
  std::vector<runtime::GroupVersion> group_versions = {};
  // The default of doctor's --service-namespace and of the --namespace of `manifests`.
  std::string service_namespace = "default";
  // Arguments of kubectl that the start suggests, e.g. "get flunders -w", after "api-resources".
  std::vector<std::string> suggestions = {};
  // Adds flags of the program's own behind the library's; `doctor` reads them, too. Called each
  // time that a command line is to be read, on main's thread; may block. What it adds must outlive
  // the program. Null: there are none.
  std::function<void(options::FlagSet& flags)> add_flags = nullptr;
  // Checks the program's own flags once all flags have been read, and returns a line for each
  // mistake, which names the flag and the remedy; the first ends the program. It changes nothing,
  // as `doctor` and the start call it alike; on main's thread, may block. Null: nothing is checked.
  std::function<std::vector<std::string>(const options::RecommendedOptions& options)> validate =
      nullptr;
  // Looks for `doctor --standalone` at what the program's own flags name, such as files and other
  // servers, and returns a finding for each; its `check` is the flag's name without dashes. Called
  // on main's thread after `validate`, with --fix several times; may block, changes nothing. Null:
  // nothing is looked at.
  std::function<std::vector<delegation::Finding>(const options::RecommendedOptions& options)>
      examine = nullptr;
  // The objects that tokens of service accounts and bootstrap tokens are checked against. Set:
  // `install` serves secrets and service accounts, and gives their stores to it. Null: they are
  // served if flags ask for such tokens.
  std::shared_ptr<groups::TokenObjects> tokens = nullptr;
  // Called once before everything below, with the directory of the server's data, which exists and
  // is this process's alone; on main's thread, may block. An error ends the program. Null: nothing
  // is done.
  std::function<Status(const std::string& data_dir)> open = nullptr;
  // Fills in what the flags left open, the program's own included, and checks what `validate`
  // cannot. Called once, after `open`, on main's thread; may block. An error ends the program.
  // Null: nothing is done.
  std::function<Status(options::RecommendedOptions& options)> complete = nullptr;
  // Changes the configuration after all flags have been applied to it, for example to add filters.
  // Called once, on main's thread; may block. Null: nothing changes.
  std::function<Status(server::Config& config)> configure = nullptr;
  // Required. Adds the program's kinds and resources, to be stored as `storage` says. Called once,
  // on main's thread, before the server starts; may block. An error ends the program.
  std::function<Status(server::GenericAPIServer& server, const registry::StorageConfig& storage)>
      install = nullptr;
};

// Runs `program` with the flags of options::RecommendedOptions, --storage, --data-dir,
// --kubeconfig-out, --explorer, --v, --version and --help, and returns the exit code for main():
// see above. It serves until SIGINT or SIGTERM and returns after a clean stop; a second signal ends
// the process at once. A standalone server also serves the Explorer (explorer/explorer.h) unless
// --no-explorer is given. `<program> doctor` says what a server behind an aggregator lacks in its
// cluster, or with --standalone what is wrong with the data and flags of a server of its own.
// `<program> crd`, `openapi` and `manifests` print its kinds, its documents, and the objects that
// deploy it in a cluster, without a server, having called `install` alone; they fail where that
// needs what `open` or `complete` has made. `<program> completion SHELL` and `<program> man` print
// the completions of bash, zsh or fish and the manual page.
// A TCP socket that systemd passes (signals/passed_socket.h) is listened on instead of one at
// --bind-address and --secure-port.
// --config FILE names a file of flags, which those of the command line replace:
//
//   apiVersion: libapiserver.dev/v1alpha1
//   kind: ServerConfiguration
//   flags:
//     secure-port: 6443
//     etcd-servers: [https://127.0.0.1:2379]
//
// A program
// calls it once, on main's thread, before it starts threads of its own.
int RunStandalone(int argc, const char* const* argv, const Program& program);

}  // namespace apiserver::inline v0::program
