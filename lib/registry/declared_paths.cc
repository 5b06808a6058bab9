#include "registry/declared_paths.h"

#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/schema_path.h"
#include "base/status_macros.h"
#include "registry/json_path.h"

// A path that leads nowhere shows nothing: the column stays empty, the selector finds no object.
// Kubernetes accepts such columns; here the author of a kind hears of them when it is installed.
namespace apiserver::v0::registry {
namespace {

Status Refused(const runtime::KindVersion& version, std::string_view what, const Status& why) {
  std::string text = version.version + ": ";
  text.append(what).append(": ").append(why.message());
  return {Reason::kInvalid, std::move(text)};
}

Status CheckColumns(const runtime::KindVersion& version) {
  for (const runtime::PrinterColumn& column : version.columns) {
    const std::string what = "column " + field::Quote(column.name);
    const auto path = JsonPath::Parse(column.json_path);
    if (!path.ok()) return Refused(version, what, path.status());
    const Status found = path->Check(*version.schema);
    if (!found.ok()) return Refused(version, what, found);
  }
  return {};
}

Status CheckAll(const StoreOptions& options) {
  for (const runtime::KindVersion& version : options.kind->versions()) {
    const bool checked = options.table_convertor == nullptr && version.schema != nullptr;
    if (checked) RETURN_IF_ERROR(CheckColumns(version));
  }
  const runtime::KindVersion* hub = options.kind->FindVersion(options.kind->hub_version());
  if (options.field_value || hub == nullptr) return {};
  for (const std::string& path : options.kind->selectable_fields()) {
    RETURN_IF_ERROR(CheckMemberPath(*hub, "selectable field", path));
  }
  return {};
}

}  // namespace

Status CheckMemberPath(const runtime::KindVersion& version, std::string_view what,
                       std::string_view path) {
  if (version.schema == nullptr) return {};
  const auto found = runtime::SchemaAt(*version.schema, path);
  return found.ok() ? Status() : Refused(version, what, found.status());
}

Status CheckDeclaredPaths(const StoreOptions& options) {
  const Status checked = CheckAll(options);
  if (checked.ok()) return {};
  std::string text = "kind " + field::Quote(options.kind->kind()) + ": ";
  return {checked.reason(), text.append(checked.message())};
}

}  // namespace apiserver::v0::registry
