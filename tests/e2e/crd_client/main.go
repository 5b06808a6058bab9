// What controllers do with kinds of CustomResourceDefinitions, with client-go and controller-runtime.
//
// usage: KUBECONFIG=FILE crd_client SHIRTS.YAML [STEP...]
//
// The steps stand in one order: install first, remove last. Each checks what it received. Exits 1 and
// names each failed check.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"
)

const (
	patience  = 60 * time.Second
	namespace = "default"
	crdName   = "shirts.stable.example.com"
)

var (
	groupVersion = schema.GroupVersion{Group: "stable.example.com", Version: "v1"}
	resource     = groupVersion.WithResource("shirts")
)

type object = unstructured.Unstructured

// client is one server as the libraries see it, and the checks done so far.
type client struct {
	ctx     context.Context
	config  *rest.Config
	dynamic dynamic.Interface
	shirts  dynamic.ResourceInterface
	crds    clientset.Interface
	crd     *apiextensionsv1.CustomResourceDefinition
	checks  int
	failed  int
}

type step struct {
	name string
	run  func(*client)
}

var steps = []step{
	{"install", (*client).install},
	{"dynamic", (*client).dynamically},
	{"status-scale", (*client).statusAndScale},
	{"typed", (*client).typed},
	{"informers", (*client).informers},
	{"changed", (*client).changed},
	{"controller", (*client).controller},
	{"caches", (*client).caches},
	{"remove", (*client).remove},
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}

func (t *client) check(right bool, what string, got any) {
	t.checks++
	if !right {
		t.failed++
		fmt.Printf("FAILED: %s\n  got: %v\n", what, got)
	}
}

func (t *client) equal(got, want any, what string) {
	t.check(reflect.DeepEqual(got, want), fmt.Sprintf("%s: want %v", what, want), got)
}

// fails checks that an error has a text.
func (t *client) fails(err error, is func(error) bool, what string) {
	t.check(err != nil && is(err), what, err)
}

// until waits for a condition.
func (t *client) until(what string, condition func() bool) {
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			panic("timed out: " + what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.checks++
}

// shirt is a valid one.
func shirt(name, color string) *object {
	return &object{Object: map[string]any{
		"apiVersion": groupVersion.String(), "kind": "Shirt",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":     map[string]any{"color": color},
	}}
}

func field(of *object, path ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(of.Object, path...)
	if err != nil {
		return err
	}
	return value
}

func (t *client) run(one step) (failed int) {
	checks, before := t.checks, t.failed
	defer func() {
		if panicked := recover(); panicked != nil {
			t.failed++
			fmt.Printf("FAILED: %s: %v\n", one.name, panicked)
		}
		fmt.Printf("crds %s: %d checks, %d failed\n", one.name, t.checks-checks, t.failed-before)
	}()
	one.run(t)
	return
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: crd_client SHIRTS.YAML [STEP...]")
		os.Exit(2)
	}
	ctrllog.SetLogger(logr.Discard())
	config := must(clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")))
	config.QPS, config.Burst, config.UserAgent = 1000, 1000, "crd-client"
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	try(yaml.UnmarshalStrict(must(os.ReadFile(os.Args[1])), crd))
	t := &client{ctx: ctx, config: config, dynamic: must(dynamic.NewForConfig(config)),
		crds: must(clientset.NewForConfig(config)), crd: crd}
	t.shirts = t.dynamic.Resource(resource).Namespace(namespace)
	for _, one := range steps {
		if len(os.Args) == 2 || slices.Contains(os.Args[2:], one.name) {
			t.run(one)
		}
	}
	if t.failed > 0 {
		os.Exit(1)
	}
}
