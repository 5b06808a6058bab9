package main

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	kinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// told collects what an informer says.
func told(one kinformers.GenericInformer) chan string {
	channel := make(chan string, 1000)
	tell := func(verb string) func(any) {
		return func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			channel <- verb + " " + must(meta.Accessor(object)).GetName()
		}
	}
	must(one.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell("add"), DeleteFunc: tell("delete"),
		UpdateFunc: func(before, now any) {
			if must(meta.Accessor(before)).GetResourceVersion() != must(meta.Accessor(now)).GetResourceVersion() {
				tell("update")(now)
			}
		},
	}))
	return channel
}

// expect waits for the next words of an informer.
func (t *client) expect(from chan string, want ...string) {
	for _, one := range want {
		got := <-from
		t.equal(got, one, "an informer says")
	}
}

func (t *client) informers() {
	quit := make(chan struct{})
	defer close(quit)
	full := dynamicinformer.NewDynamicSharedInformerFactory(t.dynamic, 0)
	shallow := metadatainformer.NewSharedInformerFactory(must(metadata.NewForConfig(t.config)), 0)
	blue := dynamicinformer.NewFilteredDynamicSharedInformerFactory(t.dynamic, 0, namespace,
		func(options *metav1.ListOptions) { options.FieldSelector = "spec.color=blue" })
	one, two, three := full.ForResource(resource), shallow.ForResource(resource), blue.ForResource(resource)
	ones, twos, threes := told(one), told(two), told(three)
	must(t.shirts.Create(t.ctx, shirt("first", "blue"), metav1.CreateOptions{}))
	full.Start(quit)
	shallow.Start(quit)
	blue.Start(quit)
	t.check(cache.WaitForCacheSync(quit, one.Informer().HasSynced, two.Informer().HasSynced, three.Informer().HasSynced),
		"informers sync", "")
	must(t.shirts.Create(t.ctx, shirt("second", "red"), metav1.CreateOptions{}))
	must(t.shirts.Patch(t.ctx, "first", types.MergePatchType, []byte(`{"spec":{"color":"green"}}`), metav1.PatchOptions{}))
	try(t.shirts.Delete(t.ctx, "second", metav1.DeleteOptions{}))
	for _, channel := range []chan string{ones, twos} {
		t.expect(channel, "add first", "add second", "update first", "delete second")
	}
	t.expect(threes, "add first", "delete first")
	t.equal(len(must(one.Lister().List(labels.Everything()))), 1, "objects held")
	try(t.shirts.Delete(t.ctx, "first", metav1.DeleteOptions{}))
}

// changed follows objects while their schema changes: nothing is missed, and new fields show.
func (t *client) changed() {
	quit := make(chan struct{})
	defer close(quit)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(t.dynamic, 0)
	one := factory.ForResource(resource)
	channel := told(one)
	factory.Start(quit)
	t.check(cache.WaitForCacheSync(quit, one.Informer().HasSynced), "an informer syncs", "")
	definitions := t.crds.ApiextensionsV1().CustomResourceDefinitions()
	for index := range 5 {
		name := fmt.Sprintf("field%d", index)
		t.until("the CRD is changed", func() bool {
			crd := must(definitions.Get(t.ctx, crdName, metav1.GetOptions{}))
			for _, version := range crd.Spec.Versions {
				version.Schema.OpenAPIV3Schema.Properties["spec"].Properties[name] =
					apiextensionsv1.JSONSchemaProps{Type: "string"}
			}
			_, err := definitions.Update(t.ctx, crd, metav1.UpdateOptions{})
			t.check(err == nil || apierrors.IsConflict(err), "a CRD is updated", err)
			return err == nil
		})
		var made *object
		t.until("the new field is kept", func() bool {
			made = shirt("with-"+name, "blue")
			made.Object["spec"].(map[string]any)[name] = "new"
			made = must(t.shirts.Create(t.ctx, made, metav1.CreateOptions{}))
			if field(made, "spec", name) == "new" {
				return true
			}
			try(t.shirts.Delete(t.ctx, made.GetName(), metav1.DeleteOptions{}))
			return false
		})
	}
	t.until("the informer holds them all, with their fields", func() bool {
		for index := range 5 {
			found, err := one.Lister().ByNamespace(namespace).Get(fmt.Sprintf("with-field%d", index))
			if err != nil || field(found.(*object), "spec", fmt.Sprintf("field%d", index)) != "new" {
				return false
			}
		}
		return true
	})
	try(t.shirts.DeleteCollection(t.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	for deleted := 0; deleted < 5; {
		if word := <-channel; word[:6] == "delete" {
			deleted++
		}
	}
}

// remove deletes the CRD: its objects are deleted first, as watchers see.
func (t *client) remove() {
	quit := make(chan struct{})
	defer close(quit)
	for index := range 20 {
		must(t.shirts.Create(t.ctx, shirt(fmt.Sprintf("last-%d", index), "red"), metav1.CreateOptions{}))
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(t.dynamic, 0)
	one := factory.ForResource(resource)
	channel := told(one)
	factory.Start(quit)
	t.check(cache.WaitForCacheSync(quit, one.Informer().HasSynced), "an informer syncs", "")
	definitions := t.crds.ApiextensionsV1().CustomResourceDefinitions()
	try(definitions.Delete(t.ctx, crdName, metav1.DeleteOptions{}))
	gone := map[string]bool{}
	for len(gone) < 20 {
		if word := <-channel; word[:6] == "delete" {
			gone[word] = true
		}
	}
	t.until("the CRD is gone", func() bool {
		_, err := definitions.Get(t.ctx, crdName, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	t.until("its objects are not found", func() bool {
		_, err := t.shirts.List(t.ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}
