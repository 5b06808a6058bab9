package main

import (
	"encoding/json"
	"sort"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

var fleets = schema.GroupVersionResource{Group: "harbor.example.com", Version: "v1", Resource: "fleets"}

func (t *client) fleets() dynamic.ResourceInterface {
	return t.dynamic.Resource(fleets).Namespace("default")
}

// A Fleet whose spec is the JSON text.
func fleet(name, spec string) *object {
	one := &object{Object: map[string]any{"apiVersion": "harbor.example.com/v1", "kind": "Fleet",
		"metadata": map[string]any{"name": name}}}
	var content map[string]any
	if err := json.Unmarshal([]byte(spec), &content); err != nil {
		panic(stop{err})
	}
	// The numbers of an Unstructured are int64.
	one.Object["spec"] = must(integers(content))
	return one
}

func integers(content map[string]any) (map[string]any, error) {
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "x", "spec": content})
	if err != nil {
		return nil, err
	}
	var one object
	err = one.UnmarshalJSON(text)
	return one.Object["spec"].(map[string]any), err
}

func (t *client) createFleet(name, spec string) *object {
	return must(t.fleets().Create(t.ctx, fleet(name, spec), metav1.CreateOptions{}))
}

// A member of the object as compact JSON, "null" if it is not there.
func text(one *object, path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(one.Object, path...)
	return string(must(json.Marshal(value)))
}

func (t *client) strategicPatch() {
	t.createFleet("strategic-1", `{"cargo":[{"name":"rum","tons":3},{"name":"tea","tons":1}],"flags":["red"]}`)
	change := func(spec string) (*object, error) {
		patch := []byte(`{"spec":` + spec + `}`)
		return t.fleets().Patch(t.ctx, "strategic-1", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	}
	cargo := func(one *object) string {
		items, _, _ := unstructured.NestedSlice(one.Object, "spec", "cargo")
		var all []string
		for _, item := range items {
			all = append(all, string(must(json.Marshal(item))))
		}
		sort.Strings(all)
		return strings.Join(all, ",")
	}
	one := must(change(`{"cargo":[{"name":"tea","tons":5},{"name":"oil","tons":9}],"flags":["blue"]}`))
	t.equal(cargo(one), `{"name":"oil","tons":9},{"name":"rum","tons":3},{"name":"tea","tons":5}`, "a list by its key")
	flags, _, _ := unstructured.NestedStringSlice(one.Object, "spec", "flags")
	sort.Strings(flags)
	t.equal(flags, []string{"blue", "red"}, "a set")
	one = must(change(`{"cargo":[{"name":"rum","$patch":"delete"}],"$deleteFromPrimitiveList/flags":["red"]}`))
	t.equal(cargo(one)+text(one, "spec", "flags"), `{"name":"oil","tons":9},{"name":"tea","tons":5}["blue"]`, "directives")
	one = must(change(`{"cargo":[{"$patch":"replace"},{"name":"hay"}],"limits":{"wind":"1500m"},"$retainKeys":["cargo","limits"]}`))
	t.equal(text(one, "spec", "cargo")+text(one, "spec", "flags"), `[{"name":"hay"}]null`, "replace and retainKeys")
	_, err := change(`{"cargo":[{"tons":1}]}`)
	t.refused(err, 500, metav1.StatusReasonUnknown, "does not contain declared merge key: name")
}

func (t *client) apply() {
	send := func(manager, spec string, force bool) (*object, error) {
		return t.fleets().Apply(t.ctx, "apply-1", fleet("apply-1", spec), metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	rum := `{"replicas":2,"cargo":[{"name":"rum","tons":3}]}`
	one := must(send("alice", rum, false))
	t.check(one.GetUID() != "", "an apply creates", one)
	entry := one.GetManagedFields()[0]
	t.equal([]any{entry.Manager, entry.Operation, entry.APIVersion, entry.FieldsType},
		[]any{"alice", metav1.ManagedFieldsOperationApply, "harbor.example.com/v1", "FieldsV1"}, "who owns it")
	t.equal(string(entry.FieldsV1.Raw),
		`{"f:spec":{"f:cargo":{"k:{\"name\":\"rum\"}":{".":{},"f:name":{},"f:tons":{}}},"f:replicas":{}}}`, "what she owns")
	again := must(send("alice", rum, false))
	t.equal(again.GetResourceVersion(), one.GetResourceVersion(), "the same again writes nothing")
	both := must(send("bob", `{"cargo":[{"name":"tea","tons":1}]}`, false))
	t.equal(text(both, "spec", "cargo"), `[{"name":"rum","tons":3},{"name":"tea","tons":1}]`, "two managers share a list")
	t.equal([]string{both.GetManagedFields()[0].Manager, both.GetManagedFields()[1].Manager}, []string{"alice", "bob"}, "its managers")
	_, err := send("bob", `{"replicas":5}`, false)
	status := t.refused(err, 409, metav1.StatusReasonConflict, `Apply failed with 1 conflict: conflict with "alice": .spec.replicas`)
	t.equal(status.Details.Causes, []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict,
		Message: `conflict with "alice"`, Field: ".spec.replicas"}}, "its cause")
	taken := must(send("bob", `{"replicas":5}`, true))
	t.equal(text(taken, "spec"), `{"cargo":[{"name":"rum","tons":3}],"replicas":5}`, "force takes it, and tea is given up")
	left := must(send("alice", `{}`, false))
	t.equal(text(left, "spec"), `{"replicas":5}`, "what nobody applies is gone")
	_, err = send("", `{}`, false)
	t.refused(err, 422, metav1.StatusReasonInvalid, "fieldManager: Required value: is required for apply patch")
	told := fleet("apply-1", `{}`)
	told.Object["status"] = map[string]any{"replicas": int64(4)}
	delete(told.Object, "spec")
	one = must(t.fleets().ApplyStatus(t.ctx, "apply-1", told, metav1.ApplyOptions{FieldManager: "carol"}))
	t.equal(text(one, "status")+text(one, "spec"), `{"replicas":4}{"replicas":5}`, "a status is applied")
	last := one.GetManagedFields()[len(one.GetManagedFields())-1]
	t.equal([]string{last.Manager, last.Subresource}, []string{"carol", "status"}, "its manager")
	bare := flunder("apply-2", nil)
	bare.SetLabels(nil)
	made := must(t.flunders.Apply(t.ctx, "apply-2", bare, metav1.ApplyOptions{FieldManager: "alice"}))
	t.equal(string(made.GetManagedFields()[0].FieldsV1.Raw), `{"f:spec":{"f:flunderReference":{},"f:referenceType":{}}}`,
		"a kind of the other group")
}

func (t *client) status() {
	about := func(one *object) string {
		return text(one, "status") + text(one, "spec", "replicas") + text(one, "metadata", "generation")
	}
	set := func(one *object, status, spec int64) *object {
		one = one.DeepCopy()
		one.Object["status"] = map[string]any{"replicas": status}
		one.Object["spec"] = map[string]any{"replicas": spec}
		return one
	}
	one := must(t.fleets().Create(t.ctx, set(fleet("status-1", `{}`), 9, 3), metav1.CreateOptions{}))
	t.equal(about(one), `{}31`, "a status does not come with its object")
	told := must(t.fleets().UpdateStatus(t.ctx, set(one, 2, 7), metav1.UpdateOptions{}))
	t.equal(about(told), `{"replicas":2}31`, "it is changed alone")
	wanted := must(t.fleets().Update(t.ctx, set(told, 9, 7), metav1.UpdateOptions{}))
	t.equal(about(wanted), `{"replicas":2}72`, "nor with an update")
	patch := []byte(`{"status":{"observedGeneration":2}}`)
	told = must(t.fleets().Patch(t.ctx, "status-1", types.MergePatchType, patch, metav1.PatchOptions{}, "status"))
	t.equal(about(told), `{"observedGeneration":2,"replicas":2}72`, "a patch")
	t.equal(must(t.fleets().Get(t.ctx, "status-1", metav1.GetOptions{}, "status")), told, "what is read")
}

func (t *client) scale() {
	t.createFleet("scale-1", `{"replicas":3,"selector":{"matchLabels":{"a":"b"}}}`)
	known := memory.NewMemCacheClient(must(discovery.NewDiscoveryClientForConfig(t.config)))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(known)
	resolver := scale.NewDiscoveryScaleKindResolver(known)
	scales := must(scale.NewForConfig(t.config, mapper, dynamic.LegacyAPIPathResolverFunc, resolver)).Scales("default")
	one := must(scales.Get(t.ctx, fleets.GroupResource(), "scale-1", metav1.GetOptions{}))
	t.equal([]any{one.Spec.Replicas, one.Status.Replicas, one.Status.Selector}, []any{int32(3), int32(0), "a=b"}, "what it says")
	one.Spec.Replicas = 5
	more := must(scales.Update(t.ctx, fleets.GroupResource(), one, metav1.UpdateOptions{}))
	t.equal(more.Spec.Replicas, int32(5), "an update")
	_, err := scales.Update(t.ctx, fleets.GroupResource(), one, metav1.UpdateOptions{})
	t.refused(err, 409, metav1.StatusReasonConflict)
	patch := []byte(`{"spec":{"replicas":1}}`)
	less := must(scales.Patch(t.ctx, fleets, "scale-1", types.MergePatchType, patch, metav1.PatchOptions{}))
	t.equal(less.Spec.Replicas, int32(1), "a patch")
	stored := must(t.fleets().Get(t.ctx, "scale-1", metav1.GetOptions{}))
	t.equal(text(stored, "spec", "replicas")+text(stored, "metadata", "generation"), "13", "the object itself")
	less.Spec.Replicas = -1
	_, err = scales.Update(t.ctx, fleets.GroupResource(), less, metav1.UpdateOptions{})
	t.refused(err, 422, metav1.StatusReasonInvalid, "spec.replicas: Invalid value: -1: must be greater than or equal to 0")
}

func (t *client) accessReview() {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: fleets.Group, Resource: fleets.Resource}}}
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		config := rest.CopyConfig(t.config)
		config.ContentType, config.AcceptContentTypes = media, media
		reviews := must(authorization.NewForConfig(config)).SelfSubjectAccessReviews()
		t.wire.take()
		answer := must(reviews.Create(t.ctx, review, metav1.CreateOptions{}))
		t.equal([]any{answer.Status.Allowed, answer.Spec.ResourceAttributes.Verb}, []any{true, "create"}, "everything is allowed")
		calls, _ := t.wire.take()
		t.equal(calls, []string{"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews " + media + " > " + media}, "in "+media)
	}
}

// What a client without the kind's Go type sees of it in protobuf: its metadata.
func (t *client) protobuf() {
	made := t.createFleet("protobuf-1", `{"replicas":2}`)
	shallow := must(metadata.NewForConfig(t.config)).Resource(fleets).Namespace("default")
	t.wire.take()
	one := must(shallow.Get(t.ctx, "protobuf-1", metav1.GetOptions{}))
	t.equal([]any{one.UID, one.ResourceVersion}, []any{made.GetUID(), made.GetResourceVersion()}, "an object's metadata")
	listed := must(shallow.List(t.ctx, metav1.ListOptions{FieldSelector: "metadata.name=protobuf-1"}))
	t.equal(len(listed.Items), 1, "a list of metadata")
	t.equal(listed.Items[0].UID, made.GetUID(), "an item")
	events := must(shallow.Watch(t.ctx, metav1.ListOptions{FieldSelector: "metadata.name=protobuf-1", ResourceVersion: listed.ResourceVersion}))
	patch := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
	must(shallow.Patch(t.ctx, "protobuf-1", types.MergePatchType, patch, metav1.PatchOptions{}))
	event := <-events.ResultChan()
	events.Stop()
	seen := must(meta.Accessor(event.Object))
	t.equal([]any{string(event.Type), seen.GetLabels()["a"]}, []any{"MODIFIED", "b"}, "an event")
	calls, _ := t.wire.take()
	for _, call := range calls {
		t.check(strings.Contains(call, "> application/vnd.kubernetes.protobuf"), "the answer is protobuf", call)
	}
}
