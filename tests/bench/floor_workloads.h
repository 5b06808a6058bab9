#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"

// The floors of this machine: what programs without an API server take for the same bytes. They run
// on CPU 0, as the servers that are measured do.
namespace bench {

// A file of 1 KiB from nghttpd, a server of files in C over nghttp2 and OpenSSL, by W1's driver.
apiserver::Status RunHttpFloor(Report& report);
// Puts of 1 KiB into etcd by h2load, a client in C over nghttp2, 32 at once.
apiserver::Status RunEtcdFloor(Report& report);
// Synced puts of 1 KiB into RocksDB by 1, 32 and 256 threads of this process.
apiserver::Status RunRocksFloor(Report& report);

}  // namespace bench
