package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
)

// policies is the part of a line that times ValidatingAdmissionPolicies: the plugin of k8s.io/apiserver, with
// informers over client-go's fake of a server.
type policies struct {
	Sets   []policySet     `json:"sets"`
	Object json.RawMessage `json:"object"` // created, as its typed Go object
	// The resource of the object.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"` // its namespace, with the label "kubernetes.io/metadata.name"
	Denied    bool   `json:"denied"`    // the answer that is expected
	// A ConfigMap for the policies' paramRef; none if empty.
	Params json.RawMessage `json:"params"`
}

// policySet is policies that are alike. In the texts $P stands for the number of the policy in the line, and $B
// for that of the binding in its policy.
type policySet struct {
	Policy   string `json:"policy"`
	Binding  string `json:"binding"`
	Count    int    `json:"count"`
	Bindings int    `json:"bindings"` // for each policy
}

// policyTiming is the answer to a line with policies.
type policyTiming struct {
	ID             json.RawMessage `json:"id,omitempty"`
	EvaluateNs     int64           `json:"evaluate_ns"`
	EvaluateAllocs int64           `json:"evaluate_allocs"`
	// The growth of the resident memory by the policies, and of the heap after a collection.
	RSSBytes  int64 `json:"rss_bytes"`
	HeapBytes int64 `json:"heap_bytes"`
}

func (p *policies) bench(id json.RawMessage, wanted time.Duration) (*policyTiming, error) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	rss, heap := residentBytes(), heapBytes()
	stop := make(chan struct{})
	defer close(stop)
	plugin, err := p.start(stop)
	if err != nil {
		return nil, err
	}
	attributes, err := p.attributes()
	if err != nil {
		return nil, err
	}
	ctx, interfaces := context.Background(), admission.NewObjectInterfacesFromScheme(scheme.Scheme)
	if err := plugin.Validate(ctx, attributes, interfaces); (err != nil) != p.Denied {
		return nil, fmt.Errorf("policies %s: unexpected answer: %v", id, err)
	}
	t := &policyTiming{ID: id}
	t.HeapBytes = heapBytes() - heap
	t.RSSBytes = residentBytes() - rss
	t.EvaluateNs, t.EvaluateAllocs = timed(wanted, func() { plugin.Validate(ctx, attributes, interfaces) })
	return t, nil
}

// start makes the plugin and waits until it has compiled the policies.
func (p *policies) start(stop chan struct{}) (*validating.Plugin, error) {
	objects := []apiruntime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: p.Namespace, Labels: map[string]string{"kubernetes.io/metadata.name": p.Namespace}}}}
	number := 0
	for _, set := range p.Sets {
		for range set.Count {
			made, err := set.objects(number)
			if err != nil {
				return nil, err
			}
			objects = append(objects, made...)
			number++
		}
	}
	if len(p.Params) > 0 {
		params := &corev1.ConfigMap{}
		if err := json.Unmarshal(p.Params, params); err != nil {
			return nil, err
		}
		objects = append(objects, params)
	}
	client := fake.NewSimpleClientset() // not NewClientset: it keeps managed fields, which takes long for many objects
	for _, object := range objects {
		if err := client.Tracker().Add(object); err != nil {
			return nil, err
		}
	}
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetExternalKubeClientSet(client)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	plugin.SetRESTMapper(mapper)
	plugin.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(scheme.Scheme))
	plugin.SetDrainedNotification(stop)
	plugin.SetAuthorizer(&fixedAuthorizer{Decision: "allow"})
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, err
	}
	factory.Start(stop)
	for _, synced := range factory.WaitForCacheSync(stop) {
		if !synced {
			return nil, errors.New("the informers do not sync")
		}
	}
	for range 600 {
		if plugin.WaitForReady() {
			return plugin, nil
		}
	}
	return nil, errors.New("the policies do not get compiled")
}

// objects makes a policy and its bindings.
func (s *policySet) objects(number int) ([]apiruntime.Object, error) {
	policy := &admissionv1.ValidatingAdmissionPolicy{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(s.Policy, "$P", strconv.Itoa(number))), policy); err != nil {
		return nil, err
	}
	objects := []apiruntime.Object{policy}
	for b := range s.Bindings {
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		text := strings.NewReplacer("$P", strconv.Itoa(number), "$B", strconv.Itoa(b)).Replace(s.Binding)
		if err := json.Unmarshal([]byte(text), binding); err != nil {
			return nil, err
		}
		objects = append(objects, binding)
	}
	return objects, nil
}

// attributes makes the request: a create.
func (p *policies) attributes() (admission.Attributes, error) {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(p.Object, nil, nil)
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: p.Resource}
	return admission.NewAttributesRecord(object, nil, *kind, p.Namespace, accessor.GetName(), resource, "",
		admission.Create, &metav1.CreateOptions{}, false, requester), nil
}

// timed runs f for about the wanted time, as the C++ side does. It returns the CPU time of the process, which
// includes the garbage collector's, and the allocations of one run.
func timed(wanted time.Duration, f func()) (int64, int64) {
	for runs := int64(1); ; runs *= 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpuTime()
		for range runs {
			f()
		}
		took := cpuTime() - start
		runtime.ReadMemStats(&after)
		if took >= wanted/2 {
			return took.Nanoseconds() / runs, int64(after.Mallocs-before.Mallocs) / runs
		}
	}
}

// cpuTime is what the process has had of the CPUs.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func residentBytes() int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
