#pragma once

#include <string>

namespace apiserver::inline v0::proxy {

// Makes the text that both ends of a SPDY/3 session give their compressors beforehand, of 1423
// bytes. Follows SPDY Protocol, draft 3, 2.6.10.1.
std::string MakeSpdyDictionary();

}  // namespace apiserver::inline v0::proxy
