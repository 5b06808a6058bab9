"""The words that requests are made of: names, headers, values of parameters, and how often who asks."""

NAMESPACES = ("default", "default", "default", "fz", "fz", "other", "x" * 64, "..", "%2e%2e", "A", "a%2fb", "")
HOSTILE = ("..", ".", "%2e%2e", "a%2fb", "%00", "%0a", "%ff", "%25", "x" * 254, "A", "a;b", "é", "%f0%9f%98%80",
           "status", "watch", "proxy", "namespaces", "-", "a:b", "*", "%5c", "+", "~")
GROUPS_KEPT = ("rbac.authorization.k8s.io", "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io")
IDENTITIES = (("admin", 60), ("admin-token", 16), ("master-token", 8), ("writer", 30), ("reader", 6), ("nobody", 3),
              ("proxier", 3), ("escalator", 4), ("certificate", 1), ("account", 2), ("account-expired", 1),
              ("account-forged", 1), ("garbage", 1), ("bootstrap", 1), ("proxied", 3), ("proxied-nobody", 1),
              ("proxy-alone", 1), ("proxy-of-another-name", 1), ("proxy-of-strangers", 1), ("spoofer", 1),
              ("spoofer-certificate", 1), ("spoofer-token", 1), ("stranger", 1), ("impersonated", 2),
              ("impersonated-anonymous", 1), ("impersonator", 1), ("anonymous", 3))
PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
           "application/apply-patch+yaml", "application/apply-patch+cbor")
BODIES = ("application/json", "application/yaml", "application/cbor", "application/vnd.kubernetes.protobuf")
ODD_TYPES = ("text/plain", "application/x-www-form-urlencoded", "garbage", "", "application/json; charset=latin1",
             "application/json;;", "APPLICATION/JSON", "*/*", "application/json-patch+json", "application/jsonx",
             "multipart/form-data; boundary=x", "application/merge-patch+json")
TABLE = "application/json;as=Table;v=%s;g=meta.k8s.io"
PARTIAL = "application/json;as=%s;v=%s;g=meta.k8s.io"
ACCEPTS = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", "*/*",
           TABLE % "v1", TABLE % "v1beta1", TABLE % "v1" + "," + TABLE % "v1beta1" + ",application/json",
           PARTIAL % ("PartialObjectMetadata", "v1"), PARTIAL % ("PartialObjectMetadataList", "v1"),
           PARTIAL % ("PartialObjectMetadata", "v1beta1"), PARTIAL % ("PartialObjectMetadataList", "v1beta1"),
           "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json")
STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch",
           "application/cbor-seq", "application/json;stream=watch,application/json")
ODD_ACCEPTS = ("garbage", "", "application/json;q=0", "text/html, */*;q=0.1",
               "application/json;as=Table;v=v9;g=meta.k8s.io",
               "application/json;as=Nothing;v=v1;g=meta.k8s.io", "application/xml", ",,,", "application/*",
               "a/b;" * 400,
               "application/json;pretty=1", "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io")
ODD_METHODS = ("HEAD", "OPTIONS", "TRACE", "PROPFIND", "get", "LIST", "WATCH", "X" * 200, "PUT", "POST", "DELETE",
               "PATCH", "GET")
VERSIONS = ("", "0", "1", "2", "9223372036854775806", "9223372036854775807", "9223372036854775808",
            "18446744073709551615", "18446744073709551616", "-1", "abc", "1.5", "0x10", "01", " 1", "+1", "1e3")
BOOLEANS = ("true", "false", "1", "0", "", "yes", "TRUE", "null")
NUMBERS = ("0", "1", "2", "-1", "", "abc", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
           "1.5", "1e3")
VALUES = {
    "resourceVersionMatch": ("Exact", "NotOlderThan", "", "garbage", "exact"),
    "dryRun": ("All", "", "garbage", "all"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "", "garbage"),
    "fieldManager": ("fz", "x" * 128, "x" * 129, "\0", "é", ""),
    "propagationPolicy": ("Orphan", "Background", "Foreground", "", "garbage"),
    "fieldSelector": ("metadata.name=fz-1", "metadata.namespace!=default", "metadata.name=fz-1,metadata.name!=fz-2",
                      "spec.foo=1", "=",
                      "a=b,c", "metadata.name in (a)", "metadata.name==", "metadata.name=a\\,b", "type=Opaque", "\\",
                      "é=1",
                      "metadata.name=../x"),
    "labelSelector": ("fuzz=yes", "fuzz!=yes", "fuzz in (yes,no)", "!fuzz", "fuzz", "a>1", "a<x", "(((", "a in ()",
                      "a=b," * 500, "a==b,,",
                      "x notin (a),y", "é", "a in (b", "-=1"),
    "timeout": ("1s", "1ms", "0", "-1s", "34s", "abc", "1h", "9999999h", "1", "1e9s"),
    "pretty": BOOLEANS + ("garbage",),
    "timeoutSeconds": ("1", "1", "1", "0", "-1", "abc", "2147483648", "99999999999999999999", "9223372036854775807"),
    "shardSelector": ("", "garbage"),
}
FORGED = ('{"v":"meta.k8s.io/v1","rv":-1,"start":"a"}', '{"v":"meta.k8s.io/v1","rv":0,"start":"a"}',
          '{"v":"meta.k8s.io/v1","rv":9223372036854775807,"start":"a\\u0000"}',
          '{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}',
          '{"v":"meta.k8s.io/v9","rv":1,"start":"a"}', '{"v":"meta.k8s.io/v1","rv":"1","start":"a"}', "{}", "[]",
          "null",
          '{"v":"meta.k8s.io/v1","rv":1,"start":""}', '{"v":"meta.k8s.io/v1","rv":1,"start":"/"}')
