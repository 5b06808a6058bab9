// The volumes of pods: rows of TestValidateVolumes, TestValidateKeyToPath,
// TestValidateNFSVolumeSource, TestValidateGlusterfs, TestValidateCSIVolumeSource and
// TestValidateFlexVolumeSource (apis/core/validation).
#include "groups/core/volume_validation.h"

#include "groups/core/claim_validation.h"
#include "groups/value_rows.h"

namespace volume_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::CheckValueRows;
using testing::ValueRow;

// Checks volumes of the pod "pod".
void CheckOfPod(runtime::Value volumes, const field::Path& path, field::ErrorList& errors) {
  groups::core::CheckVolumes(volumes, "pod", path, errors);
}

// A source of a volume: its type and its JSON; findings are below f[0].
struct SourceRow {
  const char* type;
  const char* source;
  const char* findings = "";
};

void CheckSourceRows(std::span<const SourceRow> rows) {
  for (const SourceRow& row : rows) {
    const std::string json =
        std::string(R"([{"name":"v",")") + row.type + "\":" + row.source + "}]";
    const ValueRow whole[] = {{row.type, json.c_str(), row.findings}};
    CheckValueRows(whole, &CheckOfPod);
  }
}

}  // namespace

TEST_CASE("groups: a volume has a name and one source", "[groups]") {
  const std::string long_name = R"([{"name":")" + std::string(64, 'a') + R"(","emptyDir":{}}])";
  const ValueRow rows[] = {
      {"valid", R"([{"name":"abc","emptyDir":{}},{"name":"123","emptyDir":{"medium":"Memory"}}])"},
      {"name not unique", R"([{"name":"abc","emptyDir":{}},{"name":"abc","emptyDir":{}}])",
       "Duplicate f[1].name"},
      // A volume that is refused has no name for others.
      {"name of a refused one", R"([{"name":"abc"},{"name":"abc","emptyDir":{}}])",
       "Required f[0]"},
      {"name missing", R"([{"emptyDir":{}}])", "Required f[0].name"},
      {"name > 63 characters", long_name.c_str(), "Invalid f[0].name"},
      {"name has dots", R"([{"name":"a.b.c","emptyDir":{}}])", "Invalid f[0].name"},
      {"no source", R"([{"name":"a"}])", "Required f[0]"},
      {"two sources", R"([{"name":"a","emptyDir":{},"hostPath":{"path":"/x"}}])",
       "Forbidden f[0].hostPath"},
      {"three sources, which of them are odd words",
       R"([{"name":"a","configMap":{"name":"c"},"cephfs":{"monitors":["m"]},"downwardAPI":{}}])",
       "Forbidden f[0].downwarAPI, Forbidden f[0].configMap"}};
  CheckValueRows(rows, &CheckOfPod);
}

TEST_CASE("groups: sources of volumes that a cluster has", "[groups]") {
  const SourceRow rows[] = {
      {"emptyDir", R"({"sizeLimit":"1Gi"})"},
      {"emptyDir", R"({"sizeLimit":"-1"})", "Forbidden f[0].emptyDir.sizeLimit"},
      {"hostPath", R"({"path":"/mnt/path","type":"Directory"})"},
      {"hostPath", R"({"path":"/mnt/path","type":""})"},
      {"hostPath", "{}", "Required f[0].hostPath.path"},
      {"hostPath", R"({"path":"/foo/../bar"})", "Invalid f[0].hostPath.path"},
      {"hostPath", R"({"path":"/a","type":"invalid"})", "NotSupported f[0].hostPath.type"},
      {"secret", R"({"secretName":"my-secret","defaultMode":420})"},
      {"secret", R"({"secretName":"s","items":[{"key":"key","path":"filename","mode":292}]})"},
      {"secret", "{}", "Required f[0].secret.secretName"},
      {"secret", R"({"secretName":"s","items":[{"path":"a"}]})",
       "Required f[0].secret.items[0].key"},
      {"secret", R"({"secretName":"s","items":[{"key":"a"}]})",
       "Required f[0].secret.items[0].path"},
      {"secret", R"({"secretName":"s","items":[{"key":"a","path":"../baz"}]})",
       "Invalid f[0].secret.items[0].path"},
      {"secret", R"({"secretName":"s","items":[{"key":"a","path":"..baz"}]})",
       "Invalid f[0].secret.items[0].path"},
      {"secret", R"({"secretName":"s","items":[{"key":"a","path":"/baz"}]})",
       "Invalid f[0].secret.items[0].path"},
      {"secret", R"({"secretName":"s","defaultMode":512})", "Invalid f[0].secret.defaultMode"},
      {"secret", R"({"secretName":"s","items":[{"key":"a","path":"b","mode":-1}]})",
       "Invalid f[0].secret.items[0].mode"},
      {"configMap", R"({"name":"c","items":[{"key":"k","path":"p"}],"optional":true})"},
      {"configMap", R"({"defaultMode":-1})",
       "Required f[0].configMap.name, Invalid f[0].configMap.defaultMode"},
      {"nfs", R"({"server":"my-server","path":"/my-server/path"})"},
      {"nfs", R"({"path":"/a"})", "Required f[0].nfs.server"},
      {"nfs", R"({"server":"s"})", "Required f[0].nfs.path, Invalid f[0].nfs.path"},
      {"nfs", R"({"server":"s","path":"my-server"})", "Invalid f[0].nfs.path"},
      {"persistentVolumeClaim", R"({"claimName":"my-pvc"})"},
      {"persistentVolumeClaim", "{}", "Required f[0].persistentVolumeClaim.claimName"},
      {"csi", R"({"driver":"test-driver","nodePublishSecretRef":{"name":"foobar"}})"},
      {"csi", R"({"driver":"io.kubernetes.storage.CSI-driver"})"},
      {"csi", "{}", "Required f[0].csi.driver"},
      {"csi", R"({"driver":"_hello"})", "Invalid f[0].csi.driver"},
      {"csi", R"({"driver":"d","nodePublishSecretRef":{}})",
       "Required f[0].csi.nodePublishSecretRef.name"},
      {"csi", R"({"driver":"d","nodePublishSecretRef":{"name":"A"}})", "Invalid f[0].csi.name"},
      {"image", R"({"reference":"foo","pullPolicy":"IfNotPresent"})"},
      {"image", R"({"reference":"foo"})", "Required f[0].image.pullPolicy"},
      {"image", R"({"pullPolicy":"bar"})",
       "Required f[0].image.reference, NotSupported f[0].image.pullPolicy"}};
  CheckSourceRows(rows);
}

TEST_CASE("groups: files that tell of a pod", "[groups]") {
  const SourceRow rows[] = {
      {"downwardAPI",
       R"({"items":[{"path":"labels","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels"}},
           {"path":"l","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels['key']"}},
           {"path":"a","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.annotations['Key']"}},
           {"path":"n/n","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}},
           {"path":"cpu","mode":292,"resourceFieldRef":{"containerName":"c",
            "resource":"requests.cpu"}}]})"},
      {"downwardAPI", R"({"defaultMode":512})", "Invalid f[0].downwardAPI.defaultMode"},
      {"downwardAPI",
       R"({"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels"}}]})",
       "Required f[0].downwardAPI.path"},
      {"downwardAPI",
       R"({"items":[{"path":"..x","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.uid"}}]})",
       "Invalid f[0].downwardAPI.path"},
      {"downwardAPI",
       R"({"items":[{"path":"/x","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.uid"}}]})",
       "Invalid f[0].downwardAPI.path"},
      {"downwardAPI", R"({"items":[{"path":"x"}]})", "Required f[0].downwardAPI"},
      {"downwardAPI",
       R"({"items":[{"path":"x","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.uid"},
           "resourceFieldRef":{"containerName":"c","resource":"requests.memory"}}]})",
       "Invalid f[0].downwardAPI"},
      {"downwardAPI",
       R"({"items":[{"path":"x","fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}]})",
       "NotSupported f[0].downwardAPI.fieldRef.fieldPath"},
      {"downwardAPI", R"({"items":[{"path":"x","resourceFieldRef":{"resource":"limits.cpu"}}]})",
       "Required f[0].downwardAPI.resourceFieldRef.containerName"},
      {"projected",
       R"({"sources":[{"secret":{"name":"s","items":[{"key":"k","path":"a"}]}},
           {"configMap":{"name":"c","items":[{"key":"k","path":"b"}]}},
           {"downwardAPI":{"items":[{"path":"d","fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.name"}}]}},
           {"serviceAccountToken":{"path":"token","expirationSeconds":600}}]})"},
      {"projected", R"({"defaultMode":-1})", "Invalid f[0].projected.defaultMode"},
      {"projected", R"({"sources":[{"secret":{}}]})",
       "Required f[0].projected.sources[0].secret.name"},
      {"projected", R"({"sources":[{"secret":{"name":"s"},"configMap":{"name":"c"}}]})",
       "Forbidden f[0].projected.sources[0]"},
      {"projected",
       R"({"sources":[{"secret":{"name":"s","items":[{"key":"k","path":"a"}]}},
           {"configMap":{"name":"c","items":[{"key":"k","path":"a"}]}}]})",
       "Invalid f[0].projected"},
      {"projected", R"({"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":599}}]})",
       "Invalid f[0].projected.sources[0].serviceAccountToken.expirationSeconds"},
      {"projected",
       R"({"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":4294967297}}]})",
       "Invalid f[0].projected.sources[0].serviceAccountToken.expirationSeconds"},
      {"projected", R"({"sources":[{"serviceAccountToken":{"expirationSeconds":600}}]})",
       "Required f[0].projected.path"}};
  CheckSourceRows(rows);
}

TEST_CASE("groups: sources of volumes that vendors have", "[groups]") {
  const SourceRow rows[] = {
      {"gitRepo", R"({"repository":"my-repo","revision":"hashstring","directory":"target"})"},
      {"gitRepo", R"({"repository":"my-repo","directory":".."})", "Invalid f[0].gitRepo.directory"},
      {"gitRepo", R"({"directory":"..something"})", "Required f[0].gitRepo.repository"},
      {"iscsi", R"({"targetPortal":"127.0.0.1","iqn":"iqn.2015-02.example.com:test","lun":1})"},
      {"iscsi", R"({"targetPortal":"t","iqn":"eui.0123456789ABCDEF","lun":255})"},
      {"iscsi", R"({"targetPortal":"t","iqn":"naa.62004567BA64678D0123456789ABCDEF","lun":1})"},
      {"iscsi", R"({"iqn":"iqn.2015-02.example.com:test","lun":1})",
       "Required f[0].iscsi.targetPortal"},
      {"iscsi", R"({"targetPortal":"t","lun":1})", "Required f[0].iscsi.iqn"},
      {"iscsi", R"({"targetPortal":"t","iqn":"iqn.2015-02.example.com","lun":1})",
       "Invalid f[0].iscsi.iqn"},
      {"iscsi", R"({"targetPortal":"t","iqn":"eui.0123456789ABCDEFGHIJ","lun":1})",
       "Invalid f[0].iscsi.iqn"},
      {"iscsi", R"({"targetPortal":"t","iqn":"naa.62004567BA64678D0123456789ABCDEFG","lun":1})",
       "Invalid f[0].iscsi.iqn"},
      {"iscsi", R"({"targetPortal":"t","iqn":"a.2015-02","lun":1})", "Invalid f[0].iscsi.iqn"},
      {"iscsi", R"({"targetPortal":"t","iqn":"eui.0123456789ABCDEF","lun":256})",
       "Invalid f[0].iscsi.lun"},
      {"iscsi", R"({"targetPortal":"t","iqn":"eui.0123456789ABCDEF","chapAuthSession":true})",
       "Required f[0].iscsi.secretRef"},
      {"iscsi", R"({"targetPortal":"t","iqn":"eui.0123456789ABCDEF","initiatorName":"x"})",
       "Invalid f[0].iscsi.initiatorname"},
      {"glusterfs", R"({"endpoints":"host1","path":"path"})"},
      {"glusterfs", "{}", "Required f[0].glusterfs.endpoints, Required f[0].glusterfs.path"},
      {"flocker", R"({"datasetName":"d"})"},
      {"flocker", "{}", "Required f[0].flocker"},
      {"flocker", R"({"datasetName":"d","datasetUUID":"u"})", "Invalid f[0].flocker"},
      {"flocker", R"({"datasetName":"foo/bar"})", "Invalid f[0].flocker.datasetName"},
      {"rbd", R"({"monitors":["foo"],"image":"bar"})"},
      {"rbd", R"({"monitors":[]})", "Required f[0].rbd.monitors, Required f[0].rbd.image"},
      {"cinder", R"({"volumeID":"id","secretRef":{"name":"s"}})"},
      {"cinder", R"({"secretRef":{}})",
       "Required f[0].cinder.volumeID, Required f[0].cinder.secretRef.name"},
      {"cephfs", R"({"monitors":["foo"]})"},
      {"cephfs", "{}", "Required f[0].cephfs.monitors"},
      {"quobyte", R"({"registry":"registry:7861","volume":"v","tenant":"t"})"},
      {"quobyte", R"({"registry":"reg1:7861,[::1]:7861","volume":"v"})"},
      {"quobyte", R"({"volume":"v"})", "Required f[0].quobyte.registry"},
      {"quobyte", R"({"registry":"registry7861","volume":"v"})", "Invalid f[0].quobyte.registry"},
      {"quobyte", R"({"registry":"reg1:7861,reg2","volume":"v"})", "Invalid f[0].quobyte.registry"},
      {"quobyte", R"({"registry":"a:1"})", "Required f[0].quobyte.volume"}};
  CheckSourceRows(rows);
}

TEST_CASE("groups: further sources of volumes that vendors have", "[groups]") {
  const SourceRow rows[] = {
      {"fc", R"({"targetWWNs":["some_wwn"],"lun":1})"},
      {"fc", R"({"wwids":["some_wwid"]})"},
      {"fc", R"({"lun":1})", "Required f[0].fc.targetWWNs"},
      {"fc", R"({"targetWWNs":["w"]})", "Required f[0].fc.lun"},
      {"fc", R"({"targetWWNs":["w"],"wwids":["w"],"lun":256})",
       "Invalid f[0].fc.targetWWNs, Invalid f[0].fc.lun"},
      {"flexVolume", R"({"driver":"kubernetes.io/blue","options":{"foo":"bar"}})"},
      {"flexVolume", "{}", "Required f[0].flexVolume.driver"},
      {"flexVolume", R"({"driver":"d","options":{"kubernetes.io/test":"v","k":"v"}})",
       "Invalid f[0].flexVolume.options[kubernetes.io/test]"},
      {"flexVolume", R"({"driver":"d","options":{"something.K8S.io/test":"v"}})",
       "Invalid f[0].flexVolume.options[something.K8S.io/test]"},
      {"azureFile", R"({"secretName":"k","shareName":"s"})"},
      {"azureFile", "{}", "Required f[0].azureFile.secretName, Required f[0].azureFile.shareName"},
      {"azureDisk", R"({"diskName":"foo","diskURI":"https://blob/vhds/bar.vhd"})"},
      {"azureDisk", R"({"diskName":"d","diskURI":"/subscriptions/x","kind":"Managed"})"},
      {"azureDisk", R"({"diskName":"d","diskURI":"https://x","kind":"Managed"})",
       "NotSupported f[0].azureDisk.diskURI"},
      {"azureDisk", R"({"diskName":"d","diskURI":"/subscriptions/x","kind":"Dedicated"})",
       "NotSupported f[0].azureDisk.diskURI"},
      {"azureDisk", R"({"diskURI":"","cachingMode":"invalid","kind":"x"})",
       "Required f[0].azureDisk.diskName, Required f[0].azureDisk.diskURI, NotSupported "
       "f[0].azureDisk.cachingMode, NotSupported f[0].azureDisk.kind, NotSupported "
       "f[0].azureDisk.diskURI"},
      {"vsphereVolume", "{}", "Required f[0].vsphereVolume.volumePath"},
      {"photonPersistentDisk", "{}", "Required f[0].photonPersistentDisk.pdID"},
      {"portworxVolume", R"({"volumeID":"foo"})"},
      {"portworxVolume", "{}", "Required f[0].portworxVolume.volumeID"},
      {"scaleIO", R"({"gateway":"g","system":"s","volumeName":"v"})"},
      {"scaleIO", R"({"gateway":"g"})",
       "Required f[0].scaleIO.system, Required f[0].scaleIO.volumeName"},
      {"storageos", R"({"volumeName":"v","volumeNamespace":"ns"})"},
      {"storageos", R"({"volumeNamespace":"N"})",
       "Required f[0].storageos.volumeName, Invalid f[0].storageos.volumeNamespace"},
      {"storageos", R"({"volumeName":"v.v"})", "Invalid f[0].storageos.volumeName"},
      {"gcePersistentDisk", R"({"pdName":"p","partition":256})",
       "Invalid f[0].persistentDisk.partition"},
      {"awsElasticBlockStore", R"({"partition":-1})",
       "Required f[0].awsElasticBlockStore.volumeID, Invalid f[0].awsElasticBlockStore.partition"}};
  CheckSourceRows(rows);
}

TEST_CASE("groups: claims that a pod makes for its volumes", "[groups]") {
  const std::string spec = R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{)"
                           R"("storage":"1Gi"}}})";
  const std::string valid =
      R"([{"name":"a","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},)" +
      spec + R"(}}},{"name":"b","persistentVolumeClaim":{"claimName":"pod-b"}}])";
  const std::string referred = R"([{"name":"a","ephemeral":{"volumeClaimTemplate":{)" + spec +
                               R"(}}},{"name":"b","persistentVolumeClaim":{"claimName":"pod-a"}}])";
  const std::string name = std::string(250, 'x');
  const ValueRow rows[] = {{"valid", valid.c_str()},
                           {"a claim of a pod's own volume", referred.c_str(),
                            "Invalid f[1].persistentVolumeClaim.claimName"},
                           {"no template", R"([{"name":"a","ephemeral":{}}])",
                            "Required f[0].ephemeral.volumeClaimTemplate"}};
  CheckValueRows(rows, &CheckOfPod);
  const auto of_long_name = [&name](runtime::Value volumes, const field::Path& path,
                                    field::ErrorList& errors) {
    groups::core::CheckVolumes(volumes, name, path, errors);
  };
  const std::string long_claim =
      R"([{"name":"abcd","ephemeral":{"volumeClaimTemplate":{)" + spec + "}}}]";
  const ValueRow longer[] = {{"a claim with a long name", long_claim.c_str(), "Invalid f[0].name"}};
  CheckValueRows(longer, of_long_name);
}

TEST_CASE("groups: templates of claims", "[groups]") {
  const ValueRow rows[] = {
      {"all there is",
       R"({"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}},"spec":{
           "accessModes":["ReadWriteOnce","ReadOnlyMany"],"resources":{"requests":{
           "storage":"10G"}},"storageClassName":"gold","volumeMode":"Block",
           "selector":{"matchLabels":{"a":"b"}}}})"},
      {"nothing", "{}", "Required f.spec.accessModes, Required f.spec.resources[storage]"},
      {"metadata of an object",
       R"({"metadata":{"name":"n","uid":"u","finalizers":["x"]},"spec":{
           "accessModes":["ReadWriteOncePod"],"resources":{"requests":{"storage":"1"}}}})",
       "Forbidden f.metadata.name, Forbidden f.metadata.uID, Forbidden f.metadata.finalizers"},
      {"a mode that is none, and one that must be alone",
       R"({"spec":{"accessModes":["Often","ReadWriteOncePod","ReadWriteOnce"],"resources":{
           "requests":{"storage":"1"}}}})",
       "NotSupported f.spec.accessModes, Forbidden f.spec.accessModes"},
      {"no storage",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"0"}}}})",
       "Invalid f.spec.resources[storage]"},
      {"names that are none",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}},
           "storageClassName":"A","volumeAttributesClassName":"_","volumeMode":"x"}})",
       "Invalid f.spec.storageClassName, NotSupported f.spec.volumeMode, "
       "Invalid f.spec.volumeAttributesClassName"},
      {"labels that are none",
       R"({"metadata":{"labels":{"a b":"c"},"annotations":{"-":""}},"spec":{
           "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}})",
       "Invalid f.metadata.annotations, Invalid f.metadata.labels"}};
  CheckValueRows(rows, &groups::core::CheckClaimTemplate);
}

}  // namespace volume_rows_test
