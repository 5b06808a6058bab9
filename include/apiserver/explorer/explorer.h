#pragma once

#include <string>

#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// The Explorer, a web page that shows and edits the objects of the server that it comes from.
// docs/explorer.md says what it can do, and what it may.
namespace apiserver::inline v0::explorer {

// The place of the page on its server.
struct Options {
  // The page's place. It begins and ends with '/', and is not below /api or /apis.
  std::string path = "/explorer/";
};

// Serves the page's files to everybody, GET and HEAD only, at `options.path` and below, and sends
// the path without its last '/' there. The files are constant and hold no data: what the page shows
// it asks the server's APIs for, with the credentials of its user. Any thread, at any time.
//
// kConflict: a path is taken. kInvalid: the path is not as Options say.
Status Install(server::GenericAPIServer& server, const Options& options = {});

}  // namespace apiserver::inline v0::explorer
