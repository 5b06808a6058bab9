#pragma once

#include <optional>
#include <string>

#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"

// The surroundings of a server whose options are applied.
namespace apiserver::inline v0::options {

// The surroundings that options are read and applied in.
struct Environment {
  // True: the server authenticates and authorizes users itself (--standalone). False: it asks a
  // cluster, as every server behind an aggregator (--no-standalone).
  bool standalone = true;
  // The cluster of the pod that this process runs in, from client::InClusterClientConfig. nullopt:
  // it runs in no pod.
  std::optional<client::ClientConfig> in_cluster = std::nullopt;
  // kRefused: no kubeconfig that a flag or a file of a flag names may have a credential plug-in, so
  // that none can start a program in this process.
  client::ExecPlugIns exec_plug_ins = client::ExecPlugIns::kAllowed;
  // Both must outlive the server.
  FileSystem* files = &RealFileSystem();
  LogSink* log = &NullLogSink();
};

// Returns the cluster of the kubeconfig `path`, which `flag` names. Empty path: the environment's.
// kInvalid: there is neither, or the file cannot be used; the message names the flag.
Result<client::ClientConfig> ClusterConfig(const std::string& flag, const std::string& path,
                                           const Environment& environment);

}  // namespace apiserver::inline v0::options
