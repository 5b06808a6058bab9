#include "program/manifests.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/validation.h"
#include "apiserver/options/core_api.h"
#include "apiserver/runtime/scheme.h"
#include "base/status_macros.h"

namespace apiserver::v0::program {
namespace {

using runtime::Value;

// The versionPriority of the least preferred version, and what each better one has more.
constexpr int kPriority = 15;
constexpr int kPriorityStep = 5;
constexpr std::array<std::string_view, 3> kReads = {"get", "list", "watch"};
constexpr std::array<std::string_view, 5> kWrites = {"create", "delete", "deletecollection",
                                                     "patch", "update"};

// Returns a text as a YAML scalar, quoted where it would be read as something else.
std::string Scalar(std::string_view text) {
  runtime::Arena arena;
  std::string yaml;
  codec::AppendYaml(Value::String(arena.Copy(text)), yaml);
  while (yaml.ends_with('\n')) yaml.pop_back();
  return yaml;
}

// Puts values in the places of <NAME>s.
std::string Filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string filled(text);
  for (const auto& [name, value] : values) {
    for (std::size_t at = 0; (at = filled.find(name, at)) != std::string::npos;) {
      const std::string scalar = Scalar(value);
      filled.replace(at, name.size(), scalar);
      at += scalar.size();
    }
  }
  return filled;
}

constexpr std::string_view kNamespace = R"(apiVersion: v1
kind: Namespace
metadata:
  name: <NAMESPACE>
---
# Who the server is where it asks the cluster.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: apiserver
  namespace: <NAMESPACE>
)";

constexpr std::string_view kSubject = R"(subjects:
- kind: ServiceAccount
  name: apiserver
  namespace: <NAMESPACE>
)";

constexpr std::string_view kDelegator = R"(---
# May ask the cluster who a token belongs to, and what they may do.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: <DELEGATOR>
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:auth-delegator
)";

constexpr std::string_view kReader = R"(---
# May read which authorities sign the clients' certificates and the aggregator's.
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: <READER>
  namespace: kube-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: extension-apiserver-authentication-reader
)";

constexpr std::string_view kAdmissionRole = R"(---
# May follow the namespaces, webhooks and policies that its admission obeys.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: <ROLE>
)";

constexpr std::string_view kAdmission = R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: <ROLE>
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: <ROLE>
)";

constexpr std::string_view kEdit = R"(---
# What the cluster's own roles allow on the server's objects.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: <EDIT>
  labels:
    rbac.authorization.k8s.io/aggregate-to-admin: "true"
    rbac.authorization.k8s.io/aggregate-to-edit: "true"
)";

constexpr std::string_view kView = R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: <VIEW>
  labels:
    rbac.authorization.k8s.io/aggregate-to-view: "true"
)";

constexpr std::string_view kServer = R"(---
# One server with an embedded store. The image starts the program. The Secret `serving` holds
# tls.crt and tls.key for <service>.<namespace>.svc; both are read again when they change.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: apiserver
  namespace: <NAMESPACE>
  labels:
    app: <APP>
spec:
  replicas: 1
  # Two servers must not open one embedded store.
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app: <APP>
  template:
    metadata:
      labels:
        app: <APP>
    spec:
      serviceAccountName: apiserver
      terminationGracePeriodSeconds: 75
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        fsGroup: 65532
      containers:
      - name: apiserver
        image: <IMAGE>
        imagePullPolicy: IfNotPresent
        args:
        - --no-standalone
        - --bind-address=0.0.0.0
        - --secure-port=6443
        - --data-dir=/data
        - --tls-cert-file=/serving/tls.crt
        - --tls-private-key-file=/serving/tls.key
        - --shutdown-delay-duration=5s
        ports:
        - name: https
          containerPort: 6443
        startupProbe:
          httpGet: {path: /readyz, port: https, scheme: HTTPS}
          periodSeconds: 1
          failureThreshold: 60
        readinessProbe:
          httpGet: {path: /readyz, port: https, scheme: HTTPS}
          periodSeconds: 2
        livenessProbe:
          httpGet: {path: /livez, port: https, scheme: HTTPS}
          periodSeconds: 10
        resources:
          requests: {cpu: 50m, memory: 64Mi}
          limits: {memory: 512Mi}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
        volumeMounts:
        - {name: data, mountPath: /data}
        - {name: serving, mountPath: /serving, readOnly: true}
      volumes:
      - name: data
        persistentVolumeClaim: {claimName: data}
      - name: serving
        secret: {secretName: serving}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: <NAMESPACE>
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests: {storage: 1Gi}
---
apiVersion: v1
kind: Service
metadata:
  name: <SERVICE>
  namespace: <NAMESPACE>
spec:
  selector:
    app: <APP>
  ports:
  - name: https
    port: 443
    targetPort: https
)";

constexpr std::string_view kAPIService = R"(---
# Has the cluster's aggregator ask this server. `caBundle` is the authority, PEM in base64, that
# signed the certificate in the Secret `serving`; without it the aggregator does not connect.
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: <NAME>
spec:
  group: <GROUP>
  version: <VERSION>
  groupPriorityMinimum: 1000
  versionPriority: <PRIORITY>
  caBundle: ""
  service: {name: <SERVICE>, namespace: <NAMESPACE>}
)";

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + Scalar(name);
  return "[" + list + "]";
}

// The resources of a role by the verbs that it allows on them.
using Allowed = std::map<std::vector<std::string>, std::vector<std::string>>;

void Allow(const std::string& resource, const std::set<std::string>& verbs, Allowed& allowed) {
  if (verbs.empty()) return;
  allowed[{verbs.begin(), verbs.end()}].push_back(resource);
}

std::set<std::string> Among(const std::set<std::string>& verbs,
                            std::span<const std::string_view> wanted) {
  std::set<std::string> both;
  for (const std::string_view verb : wanted) {
    if (verbs.contains(std::string(verb))) both.emplace(verb);
  }
  return both;
}

// A namespace's editor must not change what belongs to the whole cluster.
Allowed AllowedToEdit(const ServedGroup& group) {
  Allowed allowed;
  for (const auto& [name, resource] : group.resources) {
    std::set<std::string> verbs = Among(resource.verbs, kWrites);
    if (verbs.empty() || !resource.namespaced) continue;
    verbs.merge(Among(resource.verbs, kReads));
    Allow(name, verbs, allowed);
    if (resource.scale) Allow(name + "/scale", {"get", "patch", "update"}, allowed);
  }
  return allowed;
}

Allowed AllowedToView(const ServedGroup& group) {
  Allowed allowed;
  for (const auto& [name, resource] : group.resources) {
    Allow(name, Among(resource.verbs, kReads), allowed);
    if (resource.scale) Allow(name + "/scale", {"get"}, allowed);
  }
  return allowed;
}

std::string Rule(const std::string& group, const std::vector<std::string>& resources,
                 const std::vector<std::string>& verbs) {
  return "- apiGroups: " + Listed({group}) + "\n  resources: " + Listed(resources) +
         "\n  verbs: " + Listed(verbs) + "\n";
}

std::string FollowerRules() {
  std::map<std::string, std::vector<std::string>> followed;
  for (const runtime::GroupResource& each : options::FollowedResources()) {
    followed[each.group].push_back(each.resource);
  }
  std::string rules = "rules:\n";
  for (const auto& [group, resources] : followed) {
    rules += Rule(group, resources, {kReads.begin(), kReads.end()});
  }
  return rules;
}

template <class AllowedIn>
std::string Rules(const std::map<std::string, ServedGroup>& groups, const AllowedIn& allowed_in) {
  std::string rules;
  for (const auto& [name, group] : groups) {
    for (const auto& [verbs, resources] : allowed_in(group)) {
      rules += Rule(name, resources, verbs);
    }
  }
  return rules.empty() ? "rules: []\n" : "rules:\n" + rules;
}

Result<Value> Ask(client::Client& client, const std::string& target, runtime::Arena& arena) {
  ASSIGN_OR_RETURN(const http::ClientResponse answer,
                   client.Call(Context::Background(), {.method = "GET",
                                                       .target = target,
                                                       .headers = {{"Accept", "application/json"}},
                                                       .body = ""}));
  if (answer.code != 200) {
    return Status(Reason::kInternalError, target + " is answered " + std::to_string(answer.code));
  }
  return codec::ParseJson(arena.Copy(answer.body), arena);
}

Status AddVersion(client::Client& client, const std::string& target, ServedGroup& group) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value list, Ask(client, target, arena));
  for (const Value& each : list["resources"].items()) {
    const std::string name(each["name"].AsString());
    const std::size_t slash = name.find('/');
    ServedResource& resource = group.resources[name.substr(0, slash)];
    if (slash != std::string::npos) {
      resource.scale = resource.scale || name.substr(slash) == "/scale";
      continue;
    }
    resource.namespaced = each["namespaced"].AsBool();
    for (const Value& verb : each["verbs"].items()) resource.verbs.emplace(verb.AsString());
  }
  return {};
}

Status CheckLabel(std::string_view flag, const std::string& name) {
  const auto problems = meta::IsDNS1123Label(name);
  if (problems.empty()) return {};
  return {Reason::kInvalid, std::string(flag) + "=" + name + ": " + problems.front()};
}

}  // namespace

Result<ManifestOptions> ReadManifestOptions(const std::vector<std::string>& words,
                                            ManifestOptions options) {
  const std::pair<std::string_view, std::string*> flags[] = {{"--namespace", &options.name_space},
                                                             {"--service-name", &options.service},
                                                             {"--image", &options.image}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const auto flag = std::ranges::find(flags, std::string_view(word).substr(0, equals),
                                        [](const auto& each) { return each.first; });
    if (flag == std::end(flags)) {
      return Status(Reason::kInvalid, "manifests has no argument " + word);
    }
    if (equals != std::string::npos) {
      *flag->second = word.substr(equals + 1);
    } else if (++i < words.size()) {
      *flag->second = words[i];
    } else {
      return Status(Reason::kInvalid, word + " needs a value");
    }
  }
  RETURN_IF_ERROR(CheckLabel("--namespace", options.name_space));
  RETURN_IF_ERROR(CheckLabel("--service-name", options.service));
  if (options.image.empty()) return Status(Reason::kInvalid, "--image is empty");
  return options;
}

// Reads the versions of the group `each` of a discovery document, the preferred one first.
Status AddVersions(client::Client& client, const std::string& name, Value each,
                   ServedGroup& group) {
  for (const Value& version : each["versions"].items()) {
    group.versions.emplace_back(version["version"].AsString());
    RETURN_IF_ERROR(AddVersion(client, "/apis/" + name + "/" + group.versions.back(), group));
  }
  std::ranges::sort(group.versions, runtime::VersionPreferred);
  return {};
}

Result<std::map<std::string, ServedGroup>> OwnGroups(client::Client& client) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value list, Ask(client, "/apis", arena));
  std::map<std::string, ServedGroup> groups;
  for (const Value& each : list["groups"].items()) {
    const std::string name(each["name"].AsString());
    if (name.ends_with(".k8s.io")) continue;
    RETURN_IF_ERROR(AddVersions(client, name, each, groups[name]));
  }
  return groups;
}

std::string Manifests(const ManifestOptions& options,
                      const std::map<std::string, ServedGroup>& groups) {
  const std::string& name_space = options.name_space;
  const auto filled = [&](std::string_view text) {
    return Filled(text, {{"<NAMESPACE>", name_space},
                         {"<SERVICE>", options.service},
                         {"<IMAGE>", options.image},
                         {"<APP>", name_space + "-apiserver"},
                         {"<DELEGATOR>", name_space + ":system:auth-delegator"},
                         {"<READER>", name_space + ":extension-apiserver-authentication-reader"},
                         {"<ROLE>", name_space + ":apiserver"},
                         {"<EDIT>", name_space + ":edit"},
                         {"<VIEW>", name_space + ":view"}});
  };
  std::string text = filled(kNamespace);
  for (const std::string_view binding : {kDelegator, kReader}) {
    text.append(filled(binding)).append(filled(kSubject));
  }
  text += filled(kAdmissionRole) + FollowerRules() + filled(kAdmission) + filled(kSubject);
  text += filled(kEdit) + Rules(groups, AllowedToEdit);
  text += filled(kView) + Rules(groups, AllowedToView);
  text += filled(kServer);
  for (const auto& [group, served] : groups) {
    int priority = kPriority + kPriorityStep * static_cast<int>(served.versions.size());
    for (const std::string& version : served.versions) {
      priority -= kPriorityStep;
      std::string one =
          Filled(filled(kAPIService), {{"<NAME>", std::string(version).append(".").append(group)},
                                       {"<GROUP>", group},
                                       {"<VERSION>", version}});
      constexpr std::string_view kPlace = "<PRIORITY>";
      one.replace(one.find(kPlace), kPlace.size(), std::to_string(priority));
      text += one;
    }
  }
  return text;
}

}  // namespace apiserver::v0::program
