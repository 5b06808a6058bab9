package main

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
)

var readSteps = []step{
	{"discovery", (*client).discovery},
	{"get", (*client).getStep},
	{"list", (*client).listStep},
	{"list-pages", (*client).listPages},
	{"watch", (*client).watchStep},
	{"watch-list", (*client).watchList},
}

func (t *client) discovery() {
	d := must(discovery.NewDiscoveryClientForConfig(t.config))
	t.equal(must(d.ServerVersion()).Major, "1", "the version")
	t.wire.take()
	groups, resources, err := d.ServerGroupsAndResources()
	if err != nil {
		panic(stop{err})
	}
	calls, _ := t.wire.take()
	t.check(len(calls) == 2, "aggregated discovery needs two calls", calls)
	var versions []string
	for _, group := range groups {
		if group.Name != flunders.Group {
			continue
		}
		t.equal(group.PreferredVersion.GroupVersion, apiVersion, "the preferred version")
		for _, version := range group.Versions {
			versions = append(versions, version.Version)
		}
	}
	t.equal(versions, []string{"v1beta1", "v1alpha1"}, "the versions by priority")
	for _, list := range resources {
		for _, one := range list.APIResources {
			if list.GroupVersion != apiVersion || one.Name != "flunders" {
				continue
			}
			t.equal([]any{one.Kind, one.Namespaced, one.SingularName}, []any{"Flunder", true, "flunder"}, "a resource")
			for _, verb := range []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"} {
				t.check(slices.Contains([]string(one.Verbs), verb), "flunders have the verb "+verb, one.Verbs)
			}
		}
	}
	document := must(d.OpenAPISchema())
	t.check(document.GetDefinitions() != nil, "OpenAPI v2 is read", document)
	paths := must(d.OpenAPIV3().Paths())
	t.check(paths["apis/"+apiVersion] != nil, "OpenAPI v3 has the group", paths)
}

func (t *client) getStep() {
	created := t.create("get-1", nil)
	t.equal(t.get("get-1"), created, "what was created is read")
	old := flunders
	old.Version = "v1alpha1"
	seen := must(t.dynamic.Resource(old).Namespace("default").Get(t.ctx, "get-1", metav1.GetOptions{}))
	t.equal(seen.Object["spec"], map[string]any{"reference": "other", "referenceType": "Flunder"}, "the other version")
	t.refused(t.getError("get-none"), 404, metav1.StatusReasonNotFound, `flunders.wardle.example.com "get-none" not found`)
}

func (t *client) listStep() {
	var last *object
	for i := range 4 {
		last = t.create(fmt.Sprintf("list-%d", i), map[string]any{"set": "list", "even": strconv.FormatBool(i%2 == 0)})
	}
	listed := t.list("set=list")
	t.equal([]string{listed.GetAPIVersion(), listed.GetKind()}, []string{apiVersion, "FlunderList"}, "a list's type")
	t.check(revision(listed.GetResourceVersion()) >= revision(last.GetResourceVersion()), "a list is as new as what it holds",
		listed.GetResourceVersion())
	t.equal(names(listed.Items), []string{"list-0", "list-1", "list-2", "list-3"}, "the items by name")
	t.equal(names(t.list("set=list,even in (true)").Items), []string{"list-0", "list-2"}, "a label selector")
	field := must(t.flunders.List(t.ctx, metav1.ListOptions{FieldSelector: "metadata.name=list-3"}))
	t.equal(names(field.Items), []string{"list-3"}, "a field selector")
	all := must(t.dynamic.Resource(flunders).List(t.ctx, metav1.ListOptions{LabelSelector: "set=list"}))
	t.equal(len(all.Items), 4, "every namespace")
}

func (t *client) listPages() {
	pages := t.dynamic.Resource(flunders).Namespace("pages")
	for i := range 5 {
		must(pages.Create(t.ctx, flunder(fmt.Sprintf("page-%d", i), nil), metav1.CreateOptions{}))
	}
	var seen []string
	var rest []int64
	revisions := map[string]bool{}
	for more := ""; ; {
		page := must(pages.List(t.ctx, metav1.ListOptions{Limit: 2, Continue: more}))
		seen = append(seen, names(page.Items)...)
		revisions[page.GetResourceVersion()] = true
		if left := page.GetRemainingItemCount(); left != nil {
			rest = append(rest, *left)
		}
		if len(seen) == 2 {
			must(pages.Create(t.ctx, flunder("page-0-late", nil), metav1.CreateOptions{}))
			must(pages.Create(t.ctx, flunder("page-9-late", nil), metav1.CreateOptions{}))
		}
		if more = page.GetContinue(); more == "" {
			break
		}
	}
	t.equal(seen, []string{"page-0", "page-1", "page-2", "page-3", "page-4"}, "pages show one moment")
	t.equal(rest, []int64{3, 1}, "what remains")
	t.equal(len(revisions), 1, "resource versions over the pages")
}

// A watch's events, taken one by one.
func (t *client) events(options metav1.ListOptions) (next func() (watch.EventType, *object), end func()) {
	events := must(t.flunders.Watch(t.ctx, options))
	next = func() (watch.EventType, *object) {
		select {
		case event, open := <-events.ResultChan():
			one, ok := event.Object.(*unstructured.Unstructured)
			if !open || !ok {
				panic(stop{fmt.Errorf("instead of an event: %v", event.Object)})
			}
			return event.Type, one
		case <-time.After(patience):
			panic(stop{fmt.Errorf("timed out: an event")})
		}
	}
	return next, events.Stop
}

func (t *client) watchStep() {
	next, end := t.events(metav1.ListOptions{ResourceVersion: t.list("").GetResourceVersion(), LabelSelector: "set=watch"})
	created := t.create("watch-1", set("watch"))
	expect := func(want watch.EventType, object *object, what string) {
		kind, got := next()
		t.equal(kind, want, what)
		t.equal(got, object, what+"'s object")
	}
	expect(watch.Added, created, "the first event")
	t.create("watch-other", set("other"))
	expect(watch.Modified, t.merge("watch-1", `{"spec":{"flunderReference":"new"}}`), "the second event")
	t.merge("watch-1", `{"metadata":{"labels":{"set":null}}}`)
	kind, gone := next()
	t.equal([]any{kind, gone.GetName()}, []any{watch.Deleted, "watch-1"}, "it leaves the selector")
	back := t.merge("watch-1", `{"metadata":{"labels":{"set":"watch"}}}`)
	expect(watch.Added, back, "it comes back")
	t.remove("watch-1")
	kind, gone = next()
	t.equal([]any{kind, gone.Object["spec"]}, []any{watch.Deleted, back.Object["spec"]}, "the last event")
	t.check(revision(gone.GetResourceVersion()) > revision(back.GetResourceVersion()), "a deletion has a revision of its own",
		gone.GetResourceVersion())
	end()
	next, end = t.events(metav1.ListOptions{ResourceVersion: created.GetResourceVersion(), FieldSelector: "metadata.name=watch-1"})
	defer end()
	for _, want := range []watch.EventType{watch.Modified, watch.Modified, watch.Modified, watch.Deleted} {
		kind, _ = next()
		t.equal(kind, want, "a watch resumes")
	}
}

func (t *client) watchList() {
	for i := range 3 {
		t.create(fmt.Sprintf("initial-%d", i), set("initial"))
	}
	yes := true
	next, end := t.events(metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true, LabelSelector: "set=initial",
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	defer end()
	var initial []string
	for range 3 {
		kind, one := next()
		t.equal(kind, watch.Added, "an initial event")
		initial = append(initial, one.GetName())
	}
	sort.Strings(initial)
	t.equal(initial, []string{"initial-0", "initial-1", "initial-2"}, "what they show")
	kind, mark := next()
	t.equal([]any{kind, mark.GetKind()}, []any{watch.Bookmark, "Flunder"}, "the end of the initial events")
	t.equal(mark.GetAnnotations(), map[string]string{metav1.InitialEventsAnnotationKey: "true"}, "its annotation")
	late := t.create("initial-late", set("initial"))
	kind, one := next()
	t.equal(kind, watch.Added, "an event after it")
	t.equal(one, late, "its object")
}

func revision(text string) uint64 { return must(strconv.ParseUint(text, 10, 64)) }
