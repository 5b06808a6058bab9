package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Shirt is the kind as a controller's own Go type.
type Shirt struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShirtSpec   `json:"spec"`
	Status            ShirtStatus `json:"status,omitempty"`
}

type ShirtSpec struct {
	Color    string   `json:"color"`
	Size     string   `json:"size,omitempty"`
	Replicas *int32   `json:"replicas,omitempty"`
	Tags     []string `json:"tags,omitempty"`
}

type ShirtStatus struct {
	Replicas int32  `json:"replicas,omitempty"`
	Phase    string `json:"phase,omitempty"`
}

type ShirtList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shirt `json:"items"`
}

func copied[T any](from *T) *T {
	into := new(T)
	try(json.Unmarshal(must(json.Marshal(from)), into))
	return into
}

func (s *Shirt) DeepCopyObject() runtime.Object     { return copied(s) }
func (s *ShirtList) DeepCopyObject() runtime.Object { return copied(s) }

func scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &Shirt{}, &ShirtList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return scheme
}

func newShirt(name, color string) *Shirt {
	return &Shirt{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: ShirtSpec{Color: color}}
}

// typed uses client-go's REST client with the Go type, as generated clients do.
func (t *client) typed() {
	config := rest.CopyConfig(t.config)
	config.GroupVersion, config.APIPath = &groupVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme()).WithoutConversion()
	client := must(rest.RESTClientFor(config))
	made := &Shirt{}
	try(client.Post().Namespace(namespace).Resource("shirts").Body(newShirt("typed", "blue")).Do(t.ctx).Into(made))
	t.equal(made.Spec.Size, "M", "a default")
	made.Spec.Tags = []string{"a", "a"}
	err := client.Put().Namespace(namespace).Resource("shirts").Name("typed").Body(made).Do(t.ctx).Error()
	t.fails(err, apierrors.IsInvalid, "a set with one item twice is refused")
	list := &ShirtList{}
	try(client.Get().Namespace(namespace).Resource("shirts").Do(t.ctx).Into(list))
	t.equal(len(list.Items), 1, "items of a typed list")
	events := must(client.Get().Namespace(namespace).Resource("shirts").
		VersionedParams(&metav1.ListOptions{Watch: true, ResourceVersion: list.ResourceVersion}, metav1.ParameterCodec).Watch(t.ctx))
	try(client.Delete().Namespace(namespace).Resource("shirts").Name("typed").Do(t.ctx).Error())
	event := <-events.ResultChan()
	t.equal(fmt.Sprint(event.Type, event.Object.(*Shirt).Name), "DELETEDtyped", "a typed event")
	events.Stop()
}

// controller uses controller-runtime's client.
func (t *client) controller() {
	client := must(ctrlclient.New(t.config, ctrlclient.Options{Scheme: scheme()}))
	made := newShirt("ctrl", "blue")
	try(client.Create(t.ctx, made))
	t.equal(made.Spec.Size, "M", "a default comes back")
	t.fails(client.Create(t.ctx, newShirt("ctrl", "blue")), apierrors.IsAlreadyExists, "it exists already")
	result, err := controllerutil.CreateOrUpdate(t.ctx, client, made, func() error { made.Spec.Color = "red"; return nil })
	t.check(err == nil && result == controllerutil.OperationResultUpdated, "it is updated", err)
	result, err = controllerutil.CreateOrUpdate(t.ctx, client, made, func() error { return nil })
	t.check(err == nil && result == controllerutil.OperationResultNone, "nothing is left to update", err)
	before := copied(made)
	made.Status.Phase = "Sewn"
	try(client.Status().Patch(t.ctx, made, ctrlclient.MergeFrom(before)))
	t.equal(made.Status.Phase, "Sewn", "the status")
	made.Status.Replicas = 3
	try(client.Status().Update(t.ctx, made))
	stale := copied(before)
	stale.Spec.Color = "green"
	t.fails(client.Update(t.ctx, stale), apierrors.IsConflict, "an old revision conflicts")
	try(client.Apply(t.ctx, ctrlclient.ApplyConfigurationFromUnstructured(shirt("ctrl", "green")),
		ctrlclient.FieldOwner("applier"), ctrlclient.ForceOwnership))
	got := &Shirt{}
	try(client.Get(t.ctx, ctrlclient.ObjectKeyFromObject(made), got))
	t.equal(fmt.Sprint(got.Spec.Color, got.Status.Replicas, got.Generation), "green3 3", "what is stored")
	list := &ShirtList{}
	try(client.List(t.ctx, list, ctrlclient.InNamespace(namespace), ctrlclient.MatchingFields{"spec.color": "green"}))
	t.equal(len(list.Items), 1, "items by field")
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(groupVersion.WithKind("Shirt"))
	try(client.Get(t.ctx, ctrlclient.ObjectKeyFromObject(made), partial))
	t.equal(partial.UID, got.UID, "metadata alone")
	controllerutil.AddFinalizer(got, "example.com/held")
	try(client.Update(t.ctx, got))
	try(client.Delete(t.ctx, got))
	try(client.Get(t.ctx, ctrlclient.ObjectKeyFromObject(made), got))
	t.check(!got.DeletionTimestamp.IsZero(), "it waits for its finalizer", got)
	controllerutil.RemoveFinalizer(got, "example.com/held")
	try(client.Update(t.ctx, got))
	t.fails(client.Get(t.ctx, ctrlclient.ObjectKeyFromObject(made), got), apierrors.IsNotFound, "it is gone")
	t.equal(ctrlclient.IgnoreNotFound(client.DeleteAllOf(t.ctx, &Shirt{}, ctrlclient.InNamespace(namespace))), nil, "all are deleted")
}

// caches reads from controller-runtime's informers: typed, unstructured and of metadata.
func (t *client) caches() {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	client := must(ctrlclient.New(t.config, ctrlclient.Options{Scheme: scheme()}))
	held := must(ctrlcache.New(t.config, ctrlcache.Options{Scheme: scheme(), ByObject: map[ctrlclient.Object]ctrlcache.ByObject{
		&Shirt{}: {Field: fields.Everything()}}}))
	try(held.IndexField(ctx, &Shirt{}, "spec.color", func(of ctrlclient.Object) []string { return []string{of.(*Shirt).Spec.Color} }))
	go held.Start(ctx)
	t.check(held.WaitForCacheSync(ctx), "caches sync", "")
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(groupVersion.WithKind("Shirt"))
	free := &object{}
	free.SetGroupVersionKind(groupVersion.WithKind("Shirt"))
	var seen [3]atomic.Int64
	for index, of := range []ctrlclient.Object{&Shirt{}, partial, free} {
		informer := must(held.GetInformer(ctx, of))
		must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen[index].Add(1) }}))
	}
	for index := range 10 {
		try(client.Create(ctx, newShirt(fmt.Sprintf("held-%d", index), []string{"blue", "red"}[index%2])))
	}
	t.until("each informer has seen all", func() bool {
		return seen[0].Load() == 10 && seen[1].Load() == 10 && seen[2].Load() == 10
	})
	list := &ShirtList{}
	try(held.List(ctx, list, ctrlclient.MatchingFields{"spec.color": "red"}))
	t.equal(len(list.Items), 5, "items of an index")
	try(client.DeleteAllOf(ctx, &Shirt{}, ctrlclient.InNamespace(namespace)))
	t.until("the cache is empty", func() bool {
		try(held.List(ctx, list))
		return len(list.Items) == 0
	})
}
