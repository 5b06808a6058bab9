#pragma once

#include <string>
#include <string_view>

namespace apiserver::inline v0::runtime {

// An API group and version, as apiVersion names them.
struct GroupVersion {
  std::string group;  // Empty for the legacy group.
  std::string version;

  // Returns the value of apiVersion: "wardle.example.com/v1alpha1"; "v1" for the legacy group.
  std::string ToString() const { return group.empty() ? version : group + "/" + version; }
  // Parses an apiVersion. More than one '/' yields an empty version.
  static GroupVersion Parse(std::string_view api_version);
  friend auto operator<=>(const GroupVersion&, const GroupVersion&) = default;  // NOLINT: no null
};

// A kind, independent of version.
struct GroupKind {
  std::string group;
  std::string kind;
  // "Flunder.wardle.example.com"; "Pod" for the legacy group.
  std::string ToString() const { return group.empty() ? kind : kind + "." + group; }
  friend auto operator<=>(const GroupKind&, const GroupKind&) = default;
};

// A resource, independent of version; `resource` is the plural.
struct GroupResource {
  std::string group;
  std::string resource;
  // "flunders.wardle.example.com"; "pods" for the legacy group.
  std::string ToString() const { return group.empty() ? resource : resource + "." + group; }
  friend auto operator<=>(const GroupResource&, const GroupResource&) = default;
};

// A kind in one version.
struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;
  GroupVersion group_version() const { return {group, version}; }
  GroupKind group_kind() const { return {group, kind}; }
  // "wardle.example.com/v1alpha1, Kind=Flunder", as Go prints it.
  std::string ToString() const { return group_version().ToString() + ", Kind=" + kind; }
  // NOLINTNEXTLINE(modernize-use-nullptr): there is no null in it
  friend auto operator<=>(const GroupVersionKind&, const GroupVersionKind&) = default;
};

// A resource in one version.
struct GroupVersionResource {
  std::string group;
  std::string version;
  std::string resource;
  GroupResource group_resource() const { return {group, resource}; }
  friend auto operator<=>(const GroupVersionResource&, const GroupVersionResource&) = default;
};

}  // namespace apiserver::inline v0::runtime
