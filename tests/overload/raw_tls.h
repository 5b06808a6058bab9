#pragma once

#include <memory>
#include <string>
#include <string_view>

// Connections that do with TLS what no proper client does.
namespace overload {

class RawTls {
 public:
  virtual ~RawTls() = default;  // Closes, without a word.
  // False: the server has closed it.
  virtual bool Write(std::string_view bytes) = 0;
};

// Null: the server did not take it. Waits for the handshake; checks nobody's certificate.
std::unique_ptr<RawTls> DialRaw(int port);
// Begins a handshake and drops it.
void BeginHandshake(int port);

}  // namespace overload
