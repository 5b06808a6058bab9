package main

import (
	"fmt"
	"sort"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

var informerSteps = []step{{"informer", (*client).informer}}

// client-go's features, WatchListClient as a step wants it.
type gates struct {
	features.Gates
	watchList atomic.Bool
}

func (g *gates) Enabled(key features.Feature) bool {
	if key == features.WatchListClient {
		return g.watchList.Load()
	}
	return g.Gates.Enabled(key)
}

func (t *client) informer() {
	for _, on := range []bool{true, false} {
		t.features.watchList.Store(on)
		name := fmt.Sprintf("informer-%v", on)
		selected := func(options *metav1.ListOptions) { options.LabelSelector = "set=" + name }
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(t.dynamic, 0, "default", selected)
		t.follow(name, on, factory.ForResource(flunders), factory.Start)

		name += "-metadata"
		shallow := must(metadata.NewForConfig(t.config))
		factory2 := metadatainformer.NewFilteredSharedInformerFactory(shallow, 0, "default", selected)
		t.follow(name, on, factory2.ForResource(flunders), factory2.Start)
	}
}

// Starts an informer of what has the label set=name, changes things, and compares what it told and holds.
func (t *client) follow(name string, watchList bool, one informers.GenericInformer, start func(<-chan struct{})) {
	one0, one1, last := name+"-0", name+"-1", name+"-end"
	t.create(one0, set(name))
	t.wire.take()
	told := make(chan string, 100)
	tell := func(verb string) func(any) {
		return func(object any) { told <- verb + " " + must(meta.Accessor(object)).GetName() }
	}
	must(one.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell("add"), DeleteFunc: tell("delete"),
		UpdateFunc: func(_, object any) { tell("update")(object) },
	}))
	quit := make(chan struct{})
	defer close(quit)
	start(quit)
	t.check(cache.WaitForCacheSync(quit, one.Informer().HasSynced), name+" syncs", "")
	t.asked(name, watchList)

	t.create(one1, set(name))
	t.merge(one1, `{"metadata":{"annotations":{"a":"b"}}}`)
	t.remove(one0)
	t.create(last, set(name))
	var all []string
	for len(all) == 0 || all[len(all)-1] != "add "+last {
		all = append(all, <-told)
	}
	t.equal(all, []string{"add " + one0, "add " + one1, "update " + one1, "delete " + one0, "add " + last}, name+" told")
	var held []string
	for _, object := range must(one.Lister().List(labels.Everything())) {
		held = append(held, must(meta.Accessor(object)).GetName())
	}
	sort.Strings(held)
	t.equal(held, names(t.list("set="+name).Items), name+" holds what is listed")
	changed := must(meta.Accessor(must(one.Lister().ByNamespace("default").Get(one1))))
	t.equal(changed.GetAnnotations(), map[string]string{"a": "b"}, name+" follows a change")
	t.equal(one.Informer().LastSyncResourceVersion() != "", true, name+" knows a revision")
}

// Which requests the informer made: one watch, or a list and a watch.
func (t *client) asked(name string, watchList bool) {
	calls, _ := t.wire.take()
	lists, streams := 0, 0
	for _, call := range calls {
		switch {
		case strings.Contains(call, "sendInitialEvents=true"):
			streams++
		case strings.HasPrefix(call, "GET ") && !strings.Contains(call, "watch=true"):
			lists++
		}
	}
	if watchList {
		t.equal([]int{lists, streams}, []int{0, 1}, name+" lists by watching")
	} else {
		t.equal([]int{lists, streams}, []int{1, 0}, name+" lists, then watches")
	}
}
