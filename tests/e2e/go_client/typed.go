package main

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Built-in kinds as controllers use them: Go's types, protobuf both ways.
func (t *client) typed() {
	config := rest.CopyConfig(t.config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf
	all := must(kubernetes.NewForConfig(config))
	t.wire.take()
	t.configMaps(all)
	t.deployments(all)
	calls, _ := t.wire.take()
	for _, call := range calls {
		answer := call[strings.LastIndex(call, "> ")+2:]
		t.check(strings.HasPrefix(answer, "application/vnd.kubernetes.protobuf"), "the answer is protobuf", call)
	}
}

func (t *client) configMaps(all kubernetes.Interface) {
	maps := all.CoreV1().ConfigMaps("default")
	factory := informers.NewSharedInformerFactoryWithOptions(all, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps()
	told := make(chan string, 10)
	must(informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(one any) { told <- "add " + one.(*corev1.ConfigMap).Data["a"] },
		UpdateFunc: func(_, one any) { told <- "update " + one.(*corev1.ConfigMap).Data["a"] },
		DeleteFunc: func(any) { told <- "delete" },
	}))
	quit := make(chan struct{})
	defer close(quit)
	factory.Start(quit)
	factory.WaitForCacheSync(quit)
	hear := func(want string) {
		select {
		case got := <-told:
			t.equal(got, want, "an informer of Go's type tells")
		case <-time.After(patience):
			t.check(false, "an informer of Go's type tells "+want, "nothing")
		}
	}
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "typed-1", Labels: map[string]string{"x": "y"}},
		Data: map[string]string{"a": "1"}, BinaryData: map[string][]byte{"b": {0, 255}}}
	made := must(maps.Create(t.ctx, wanted, metav1.CreateOptions{}))
	hear("add 1")
	t.equal([]any{made.Data, made.BinaryData, made.Labels}, []any{wanted.Data, wanted.BinaryData, wanted.Labels}, "what was sent")
	t.equal(must(maps.Get(t.ctx, "typed-1", metav1.GetOptions{})), made, "what is read")
	made.Data["a"] = "2"
	made = must(maps.Update(t.ctx, made, metav1.UpdateOptions{}))
	hear("update 2")
	_, err := maps.Update(t.ctx, wanted, metav1.UpdateOptions{})
	t.equal(err, error(nil), "an update without a revision")
	hear("update 1")
	listed := must(maps.List(t.ctx, metav1.ListOptions{}))
	t.equal(len(listed.Items), 1, "a list")
	t.equal(listed.Items[0].UID, made.UID, "its item")
	_, err = maps.Create(t.ctx, wanted, metav1.CreateOptions{})
	t.refused(err, 409, metav1.StatusReasonAlreadyExists, `configmaps "typed-1" already exists`)
	t.equal(maps.Delete(t.ctx, "typed-1", *metav1.NewDeleteOptions(0)), error(nil), "a delete with its options in protobuf")
	hear("delete")
}

func (t *client) deployments(all kubernetes.Interface) {
	deployments := all.AppsV1().Deployments("default")
	apply := func(image string, replicas int32) *appsv1.Deployment {
		container := applycorev1.Container().WithName("main").WithImage(image).
			WithPorts(applycorev1.ContainerPort().WithContainerPort(80).WithProtocol(corev1.ProtocolTCP))
		one := applyappsv1.Deployment("typed-1", "default").WithSpec(applyappsv1.DeploymentSpec().WithReplicas(replicas).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(map[string]string{"a": "b"})).
			WithTemplate(applycorev1.PodTemplateSpec().WithLabels(map[string]string{"a": "b"}).
				WithSpec(applycorev1.PodSpec().WithContainers(container))))
		return must(deployments.Apply(t.ctx, one, metav1.ApplyOptions{FieldManager: "alice"}))
	}
	made := apply("x:1", 2)
	containers := made.Spec.Template.Spec.Containers
	t.equal([]any{*made.Spec.Replicas, len(containers), containers[0].Image, containers[0].Ports[0].ContainerPort},
		[]any{int32(2), 1, "x:1", int32(80)}, "an apply of Go's type")
	t.equal(made.ManagedFields[0].Manager, "alice", "its manager")
	t.equal(apply("x:1", 2).ResourceVersion, made.ResourceVersion, "the same again writes nothing")
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"y:1"}]}}}}`)
	patched := must(deployments.Patch(t.ctx, "typed-1", types.StrategicMergePatchType, patch, metav1.PatchOptions{}))
	t.equal(len(patched.Spec.Template.Spec.Containers), 2, "a strategic merge patch adds a container")
	images := map[string]string{}
	for _, each := range apply("x:2", 2).Spec.Template.Spec.Containers {
		images[each.Name] = each.Image
	}
	t.equal(images, map[string]string{"main": "x:2", "side": "y:1"}, "another apply keeps it")
	t.equal(deployments.Delete(t.ctx, "typed-1", metav1.DeleteOptions{}), error(nil), "a delete")
}
