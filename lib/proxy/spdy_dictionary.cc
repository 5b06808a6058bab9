#include "proxy/spdy_dictionary.h"

#include <array>
#include <string_view>

namespace apiserver::v0::proxy {

namespace {

// The words that stand in the dictionary with their lengths before them, as in a header block.
constexpr std::array<std::string_view, 65> kWords = {"options",
                                                     "head",
                                                     "post",
                                                     "put",
                                                     "delete",
                                                     "trace",
                                                     "accept",
                                                     "accept-charset",
                                                     "accept-encoding",
                                                     "accept-language",
                                                     "accept-ranges",
                                                     "age",
                                                     "allow",
                                                     "authorization",
                                                     "cache-control",
                                                     "connection",
                                                     "content-base",
                                                     "content-encoding",
                                                     "content-language",
                                                     "content-length",
                                                     "content-location",
                                                     "content-md5",
                                                     "content-range",
                                                     "content-type",
                                                     "date",
                                                     "etag",
                                                     "expect",
                                                     "expires",
                                                     "from",
                                                     "host",
                                                     "if-match",
                                                     "if-modified-since",
                                                     "if-none-match",
                                                     "if-range",
                                                     "if-unmodified-since",
                                                     "last-modified",
                                                     "location",
                                                     "max-forwards",
                                                     "pragma",
                                                     "proxy-authenticate",
                                                     "proxy-authorization",
                                                     "range",
                                                     "referer",
                                                     "retry-after",
                                                     "server",
                                                     "te",
                                                     "trailer",
                                                     "transfer-encoding",
                                                     "upgrade",
                                                     "user-agent",
                                                     "vary",
                                                     "via",
                                                     "warning",
                                                     "www-authenticate",
                                                     "method",
                                                     "get",
                                                     "status",
                                                     "200 OK",
                                                     "version",
                                                     "HTTP/1.1",
                                                     "url",
                                                     "public",
                                                     "set-cookie",
                                                     "keep-alive",
                                                     "origin"};

// The rest, without lengths: status codes, dates and frequent values.
constexpr std::string_view kTail =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, "
    "Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,"
    "sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

}  // namespace

std::string MakeSpdyDictionary() {
  std::string dictionary;
  for (const std::string_view word : kWords) {
    dictionary.append({'\0', '\0', '\0', static_cast<char>(word.size())});
    dictionary += word;
  }
  return dictionary += kTail;
}

}  // namespace apiserver::v0::proxy
