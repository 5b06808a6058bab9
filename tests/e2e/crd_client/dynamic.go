package main

import (
	"fmt"
	"sort"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

// status is what a condition of a CRD says.
func status(of *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) string {
	for _, one := range of.Status.Conditions {
		if one.Type == kind {
			return string(one.Status) + " " + one.Reason
		}
	}
	return ""
}

// install creates the CRD and follows it until it is served.
func (t *client) install() {
	// Generated clients prefer protobuf.
	made, err := t.crds.ApiextensionsV1().CustomResourceDefinitions().Create(t.ctx, t.crd, metav1.CreateOptions{})
	t.check(err == nil, "a CRD is created in protobuf", err)
	if err != nil {
		config := rest.CopyConfig(t.config)
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
		t.crds = must(clientset.NewForConfig(config))
		made = must(t.crds.ApiextensionsV1().CustomResourceDefinitions().Create(t.ctx, t.crd, metav1.CreateOptions{}))
	}
	definitions := t.crds.ApiextensionsV1().CustomResourceDefinitions()
	t.equal(made.Status.StoredVersions, []string{"v1"}, "stored versions")
	events := must(definitions.Watch(t.ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=" + crdName, ResourceVersion: made.ResourceVersion}))
	for event := range events.ResultChan() {
		now := event.Object.(*apiextensionsv1.CustomResourceDefinition)
		if strings.HasPrefix(status(now, apiextensionsv1.Established), "True") {
			t.equal(status(now, apiextensionsv1.NamesAccepted), "True NoConflicts", "names are accepted")
			t.equal(status(now, apiextensionsv1.Established), "True InitialNamesAccepted", "it is established")
			break
		}
	}
	events.Stop()
	found := must(definitions.List(t.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + crdName}))
	t.equal(len(found.Items), 1, "CRDs of the name")
	names := t.crd.Spec.Names
	names.ListKind = "ShirtList"
	t.equal(found.Items[0].Status.AcceptedNames, names, "accepted names")
	t.until("discovery has it", func() bool {
		list, err := discovery.NewDiscoveryClientForConfigOrDie(t.config).ServerResourcesForGroupVersion(groupVersion.String())
		return err == nil && len(list.APIResources) == 3
	})
}

func (t *client) dynamically() {
	ctx := t.ctx
	list := must(t.shirts.List(ctx, metav1.ListOptions{}))
	t.equal(list.GetKind(), "ShirtList", "kind of the list")
	events := must(t.shirts.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))
	defer events.Stop()
	made := must(t.shirts.Create(ctx, shirt("one", "blue"), metav1.CreateOptions{FieldValidation: "Strict"}))
	t.equal(field(made, "spec"), map[string]any{"color": "blue", "size": "M", "replicas": int64(1)}, "defaults")
	_, err := t.shirts.Create(ctx, shirt("one", "blue"), metav1.CreateOptions{})
	t.fails(err, apierrors.IsAlreadyExists, "a second one is refused")
	_, err = t.shirts.Create(ctx, shirt("two", "pink"), metav1.CreateOptions{})
	t.fails(err, apierrors.IsInvalid, "a wrong color is refused")
	must(t.shirts.Create(ctx, shirt("two", "red"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	_, err = t.shirts.Get(ctx, "two", metav1.GetOptions{})
	t.fails(err, apierrors.IsNotFound, "a dry run creates nothing")
	must(t.shirts.Patch(ctx, "one", types.MergePatchType, []byte(`{"spec":{"size":"XL"}}`), metav1.PatchOptions{}))
	stale := made.DeepCopy()
	stale.SetLabels(map[string]string{"a": "b"})
	_, err = t.shirts.Update(ctx, stale, metav1.UpdateOptions{})
	t.fails(err, apierrors.IsConflict, "an old revision conflicts")
	_, err = t.shirts.Patch(ctx, "one", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	t.fails(err, apierrors.IsUnsupportedMediaType, "strategic merge patches are refused")
	owned := shirt("one", "red")
	_, err = t.shirts.Apply(ctx, "one", owned, metav1.ApplyOptions{FieldManager: "applier"})
	t.fails(err, apierrors.IsConflict, "an owner is in the way")
	forced := must(t.shirts.Apply(ctx, "one", owned, metav1.ApplyOptions{FieldManager: "applier", Force: true}))
	t.equal(field(forced, "spec", "color"), "red", "applied color")
	t.equal(forced.GetGeneration(), int64(3), "generation")
	try(t.shirts.Delete(ctx, "one", metav1.DeleteOptions{}))
	var told []string
	for event := range events.ResultChan() {
		one := event.Object.(*object)
		told = append(told, fmt.Sprint(event.Type, " ", field(one, "spec", "color"), " ", field(one, "spec", "size")))
		if event.Type == watch.Deleted {
			break
		}
	}
	t.equal(told, []string{"ADDED blue M", "MODIFIED blue XL", "MODIFIED red XL", "DELETED red XL"}, "events")
	t.pages()
}

func (t *client) pages() {
	for index := range 7 {
		color := []string{"blue", "red"}[index%2]
		must(t.shirts.Create(t.ctx, shirt(fmt.Sprintf("page-%d", index), color), metav1.CreateOptions{}))
	}
	var names []string
	options := metav1.ListOptions{Limit: 3}
	for {
		page := must(t.shirts.List(t.ctx, options))
		for _, one := range page.Items {
			names = append(names, one.GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	sort.Strings(names)
	t.equal(len(names), 7, "names in pages")
	red := must(t.shirts.List(t.ctx, metav1.ListOptions{FieldSelector: "spec.color=red"}))
	t.equal(len(red.Items), 3, "red ones")
	try(t.shirts.DeleteCollection(t.ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.color=red"}))
	t.equal(len(must(t.shirts.List(t.ctx, metav1.ListOptions{})).Items), 4, "others")
	old := must(t.dynamic.Resource(schema.GroupVersionResource{Group: groupVersion.Group, Version: "v1beta1", Resource: "shirts"}).
		Namespace(namespace).Get(t.ctx, "page-0", metav1.GetOptions{}))
	t.equal(old.GetAPIVersion(), "stable.example.com/v1beta1", "the other version")
	try(t.shirts.DeleteCollection(t.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
}

func (t *client) statusAndScale() {
	made := must(t.shirts.Create(t.ctx, shirt("scaled", "green"), metav1.CreateOptions{}))
	made.Object["status"] = map[string]any{"replicas": int64(2), "selector": "a=b"}
	must(t.shirts.Update(t.ctx, made, metav1.UpdateOptions{}))
	now := must(t.shirts.Get(t.ctx, "scaled", metav1.GetOptions{}))
	t.equal(field(now, "status"), nil, "an update leaves the status alone")
	made.SetResourceVersion(now.GetResourceVersion())
	made.Object["spec"].(map[string]any)["color"] = "blue"
	now = must(t.shirts.UpdateStatus(t.ctx, made, metav1.UpdateOptions{}))
	t.equal(field(now, "status", "replicas"), int64(2), "the status' replicas")
	t.equal(field(now, "spec", "color"), "green", "a status leaves the spec alone")
	t.equal(now.GetGeneration(), int64(1), "generation")

	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(t.config)))
	kinds := scale.NewDiscoveryScaleKindResolver(discovery.NewDiscoveryClientForConfigOrDie(t.config))
	scales := must(scale.NewForConfig(t.config, mapper, dynamic.LegacyAPIPathResolverFunc, kinds)).Scales(namespace)
	got := must(scales.Get(t.ctx, resource.GroupResource(), "scaled", metav1.GetOptions{}))
	t.equal(got.Spec.Replicas, int32(1), "a scale's replicas")
	t.equal(got.Status, autoscalingv1.ScaleStatus{Replicas: 2, Selector: "a=b"}, "a scale's status")
	got.Spec.Replicas = 5
	must(scales.Update(t.ctx, resource.GroupResource(), got, metav1.UpdateOptions{}))
	must(scales.Patch(t.ctx, resource, "scaled", types.MergePatchType, []byte(`{"spec":{"replicas":6}}`), metav1.PatchOptions{}))
	now = must(t.shirts.Get(t.ctx, "scaled", metav1.GetOptions{}))
	t.equal(field(now, "spec", "replicas"), int64(6), "scaled replicas")
	t.equal(now.GetGeneration(), int64(3), "generation once scaled")
	try(t.shirts.Delete(t.ctx, "scaled", metav1.DeleteOptions{}))
}
