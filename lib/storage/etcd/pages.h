#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "apiserver/base/context.h"
#include "storage/etcd/client.h"
#include "storage/etcd/page_size.h"

namespace apiserver::inline v0::storage::etcd {

struct PagesOptions {
  std::string_view prefix;
  std::chrono::milliseconds timeout;  // Of one page.
  PageSize size = {};                 // Of the first page.
};

// Reads all keys of a prefix, linearizably. After the first page, which tells how many there are,
// they are read in parts, two at a time and before anybody looks at them, so that etcd need not
// wait: at most three pages are on their way or not taken yet.
std::unique_ptr<kv::Pages> NewPages(std::shared_ptr<Client> client, const Context& ctx,
                                    const PagesOptions& options);

}  // namespace apiserver::inline v0::storage::etcd
