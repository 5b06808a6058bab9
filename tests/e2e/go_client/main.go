// The steps of ../client-steps.txt with client-go.
//
// usage: KUBECONFIG=FILE go_client [STEP...]
//
// Each step stands alone and checks what it received. Exits 1 and names each failed check.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Nothing waits this long where the server is right.
const patience = 20 * time.Second

const apiVersion = "wardle.example.com/v1beta1"

var flunders = schema.GroupVersionResource{Group: "wardle.example.com", Version: "v1beta1", Resource: "flunders"}

// One server as client-go sees it, and the checks done so far.
type client struct {
	ctx      context.Context
	config   *rest.Config
	dynamic  dynamic.Interface
	flunders dynamic.ResourceInterface
	wire     *wire
	features *gates
	checks   int
	failed   int
}

type object = unstructured.Unstructured

// What went over the wire: "GET /path?query content-type" of each answer, and its warnings.
type wire struct {
	lock     sync.Mutex
	calls    []string
	warnings []string
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper { return roundTripper{w, next} }

func (w *wire) HandleWarningHeader(_ int, _ string, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.warnings = append(w.warnings, text)
}

// What was recorded since it was last taken.
func (w *wire) take() (calls, warnings []string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	calls, warnings = w.calls, w.warnings
	w.calls, w.warnings = nil, nil
	return
}

type roundTripper struct {
	wire *wire
	next http.RoundTripper
}

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil {
		r.wire.lock.Lock()
		defer r.wire.lock.Unlock()
		r.wire.calls = append(r.wire.calls, fmt.Sprintf("%s %s %s > %s", request.Method, request.URL.RequestURI(),
			request.Header.Get("Content-Type"), response.Header.Get("Content-Type")))
	}
	return response, err
}

func newClient() (*client, error) {
	t := &client{ctx: context.Background(), wire: &wire{}, features: &gates{Gates: features.FeatureGates()}}
	features.ReplaceFeatureGates(t.features)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.Wrap(t.wire.wrap)
	config.WarningHandler = t.wire
	config.QPS = -1
	t.config = config
	if t.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	t.flunders = t.dynamic.Resource(flunders).Namespace("default")
	return t, nil
}

func (t *client) check(condition bool, what string, got any) {
	t.checks++
	if !condition {
		t.failed++
		fmt.Printf("FAILED: %s\n  got: %v\n", what, got)
	}
}

func (t *client) equal(got, want any, what string) {
	t.check(reflect.DeepEqual(got, want), fmt.Sprintf("%s: %#v", what, want), fmt.Sprintf("%#v", got))
}

// A step goes no further where an error leaves nothing to check.
type stop struct{ err error }

func must[T any](value T, err error) T {
	if err != nil {
		panic(stop{err})
	}
	return value
}

// The call failed with a Status of the code and reason whose message has the texts.
func (t *client) refused(err error, code int32, reason metav1.StatusReason, texts ...string) metav1.Status {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		t.check(false, fmt.Sprintf("refused with %d %s", code, reason), err)
		return metav1.Status{}
	}
	got := status.Status()
	t.equal([]any{got.Code, got.Reason}, []any{code, reason}, "a refusal")
	for _, text := range texts {
		t.check(strings.Contains(got.Message, text), "a refusal says "+text, got.Message)
	}
	return got
}

func flunder(name string, labels map[string]any) *object {
	return &object{Object: map[string]any{
		"apiVersion": apiVersion,
		"kind":       "Flunder",
		"metadata":   map[string]any{"name": name, "labels": labels},
		"spec":       map[string]any{"flunderReference": "other", "referenceType": "Flunder"},
	}}
}

// The label that a step gives to what it creates.
func set(name string) map[string]any { return map[string]any{"set": name} }

func (t *client) create(name string, labels map[string]any) *object {
	return must(t.flunders.Create(t.ctx, flunder(name, labels), metav1.CreateOptions{}))
}

func (t *client) get(name string) *object {
	return must(t.flunders.Get(t.ctx, name, metav1.GetOptions{}))
}

func (t *client) getError(name string) error {
	_, err := t.flunders.Get(t.ctx, name, metav1.GetOptions{})
	return err
}

func (t *client) merge(name, patch string) *object {
	return must(t.flunders.Patch(t.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}))
}

func (t *client) list(selector string) *unstructured.UnstructuredList {
	return must(t.flunders.List(t.ctx, metav1.ListOptions{LabelSelector: selector}))
}

func (t *client) remove(name string) {
	if err := t.flunders.Delete(t.ctx, name, metav1.DeleteOptions{}); err != nil {
		panic(stop{err})
	}
}

func names(items []object) []string {
	all := make([]string, 0, len(items))
	for _, one := range items {
		all = append(all, one.GetName())
	}
	return all
}

func reference(one *object) string {
	text, _, _ := unstructured.NestedString(one.Object, "spec", "flunderReference")
	return text
}

type step struct {
	name string
	run  func(*client)
}

func (t *client) run(one step) {
	before := t.checks
	defer func() {
		if problem := recover(); problem != nil {
			if stopped, ok := problem.(stop); ok {
				problem = stopped.err
			}
			t.check(false, one.name+": no error", fmt.Sprintf("%v%s", problem, where()))
		}
		fmt.Printf("go %s: %d checks\n", one.name, t.checks-before)
	}()
	// An informer that does not sync waits for ever.
	limit := time.AfterFunc(2*patience, func() {
		fmt.Printf("FAILED: %s: takes too long\n", one.name)
		os.Exit(1)
	})
	defer limit.Stop()
	one.run(t)
}

// The lines of this program that led here.
func where() (lines string) {
	for line := range strings.Lines(string(debug.Stack())) {
		if strings.Contains(line, "/go_client/") {
			lines += "\n  " + strings.TrimSpace(line)
		}
	}
	return
}

func main() {
	t, err := newClient()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	wanted := map[string]bool{}
	for _, name := range os.Args[1:] {
		wanted[name] = true
	}
	for _, one := range append(append(readSteps, informerSteps...), writeSteps...) {
		if len(wanted) == 0 || wanted[one.name] {
			t.run(one)
		}
	}
	fmt.Printf("go: %d checks, %d failed\n", t.checks, t.failed)
	if t.failed > 0 {
		os.Exit(1)
	}
}
