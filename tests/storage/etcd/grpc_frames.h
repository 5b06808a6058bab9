#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../http/frame_server.h"
#include "storage/etcd/grpc_wire.h"
#include "storage/etcd/http_rpc.h"

// Answers of servers that speak gRPC by hand, and transports to them.
namespace apiserver::inline v0::storage::etcd {

constexpr const char* kAnyMethod = "/etcdserverpb.KV/Range";

// Returns a frame of stream 1.
inline std::string Frame(char type, char flags, const std::string& payload) {
  std::string frame("\0\0\0", 3);
  frame[1] = static_cast<char>(payload.size() >> 8U);
  frame[2] = static_cast<char>(payload.size());
  return frame + type + flags + std::string("\0\0\0\x01", 4) + payload;
}
// Returns a header as HPACK writes it without its tables.
inline std::string Field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}
inline std::string Data(const std::string& bytes) { return Frame(0, 0, bytes); }
inline std::string Trailers(const std::string& status) {
  return Frame(1, 5, Field("grpc-status", status));
}
// ":status: 200".
inline const std::string kPlainHead = Frame(1, 4, "\x88");
inline const std::string kHead = Frame(1, 4, "\x88" + Field("content-type", "application/grpc"));
inline const std::string kAnswer = kHead + Data(FrameOf("answer")) + Trailers("0");
inline const std::string kRefused = Frame(3, 0, std::string("\0\0\0\x07", 4));
inline const std::string kFailed = Frame(3, 0, std::string("\0\0\0\x02", 4));
// The last stream that the server has begun is 0.
inline const std::string kGoAway("\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0", 17);

inline HttpRpcOptions OptionsTo(const std::vector<int>& ports) {
  HttpRpcOptions options;
  for (const int port : ports) {
    options.endpoints.push_back({.text = "", .host = "127.0.0.1", .port = port, .tls = false});
  }
  return options;
}
inline std::shared_ptr<Rpc> RpcTo(const std::vector<int>& ports) {
  return NewHttpRpc(OptionsTo(ports));
}

}  // namespace apiserver::inline v0::storage::etcd
