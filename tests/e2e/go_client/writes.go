package main

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var writeSteps = []step{
	{"create", (*client).createStep},
	{"update", (*client).update},
	{"json-patch", (*client).jsonPatch},
	{"merge-patch", (*client).mergePatch},
	{"strategic-patch", (*client).strategicPatch},
	{"apply", (*client).apply},
	{"dry-run", (*client).dryRun},
	{"field-validation", (*client).fieldValidation},
	{"status", (*client).status},
	{"scale", (*client).scale},
	{"access-review", (*client).accessReview},
	{"protobuf", (*client).protobuf},
	{"typed", (*client).typed},
	{"delete", (*client).deleteStep},
	{"delete-collection", (*client).deleteCollection},
}

func (t *client) createStep() {
	one := t.create("create-1", map[string]any{"app": "a"})
	t.equal([]string{one.GetAPIVersion(), one.GetKind()}, []string{apiVersion, "Flunder"}, "a created object's type")
	created := one.GetCreationTimestamp()
	t.check(one.GetUID() != "" && one.GetResourceVersion() != "" && !created.IsZero(), "its metadata is set", one)
	t.equal(one.Object["spec"], map[string]any{"flunderReference": "other", "referenceType": "Flunder"}, "the spec")
	_, err := t.flunders.Create(t.ctx, flunder("create-1", nil), metav1.CreateOptions{})
	status := t.refused(err, 409, metav1.StatusReasonAlreadyExists, `flunders.wardle.example.com "create-1" already exists`)
	t.equal(*status.Details, metav1.StatusDetails{Name: "create-1", Group: "wardle.example.com", Kind: "flunders"}, "the details")
	generated := flunder("", nil)
	generated.SetGenerateName("create-gen-")
	made := must(t.flunders.Create(t.ctx, generated, metav1.CreateOptions{}))
	t.check(strings.HasPrefix(made.GetName(), "create-gen-"), "a generated name", made.GetName())
	both := flunder("create-2", nil)
	both.Object["spec"].(map[string]any)["fischerReference"] = "b"
	_, err = t.flunders.Create(t.ctx, both, metav1.CreateOptions{})
	status = t.refused(err, 422, metav1.StatusReasonInvalid,
		`Flunder.wardle.example.com "create-2" is invalid: spec.fischerReference: Invalid value: "b"`)
	t.equal([]any{status.Details.Causes[0].Type, status.Details.Causes[0].Field},
		[]any{metav1.CauseTypeFieldValueInvalid, "spec.fischerReference"}, "a cause")
}

func (t *client) update() {
	first := t.create("update-1", nil)
	changed := first.DeepCopy()
	changed.Object["spec"].(map[string]any)["flunderReference"] = "changed"
	second := must(t.flunders.Update(t.ctx, changed, metav1.UpdateOptions{}))
	t.equal(reference(second), "changed", "an update")
	t.equal(second.GetUID(), first.GetUID(), "an update keeps the uid")
	t.check(revision(second.GetResourceVersion()) > revision(first.GetResourceVersion()), "an update has a new revision", second)
	same := must(t.flunders.Update(t.ctx, second, metav1.UpdateOptions{}))
	t.equal(same.GetResourceVersion(), second.GetResourceVersion(), "no change writes nothing")
	_, err := t.flunders.Update(t.ctx, changed, metav1.UpdateOptions{})
	t.refused(err, 409, metav1.StatusReasonConflict,
		"the object has been modified; please apply your changes to the latest version and try again")
}

func (t *client) jsonPatch() {
	t.create("json-1", nil)
	patch := func(text string) (*object, error) {
		return t.flunders.Patch(t.ctx, "json-1", types.JSONPatchType, []byte(text), metav1.PatchOptions{})
	}
	text := `[{"op":"test","path":"/spec/flunderReference","value":"other"},
		{"op":"replace","path":"/spec/flunderReference","value":"json"},
		{"op":"add","path":"/metadata/annotations","value":{"a/b":"1"}}]`
	one := must(patch(text))
	t.equal(reference(one), "json", "a JSON patch")
	t.equal(one.GetAnnotations(), map[string]string{"a/b": "1"}, "what it added")
	_, err := patch(text)
	t.refused(err, 422, metav1.StatusReasonInvalid, "the server rejected our request due to an error in our request")
	one = must(patch(`[{"op":"remove","path":"/metadata/annotations/a~1b"}]`))
	t.equal(len(one.GetAnnotations()), 0, "an annotation is removed")
	t.equal(t.get("json-1"), one, "what was answered is stored")
	_, err = patch(`{}`)
	t.refused(err, 400, metav1.StatusReasonBadRequest)
}

func (t *client) mergePatch() {
	t.create("merge-1", map[string]any{"a": "1", "b": "2"})
	one := t.merge("merge-1", `{"metadata":{"labels":{"a":null,"c":"3"}},"spec":{"flunderReference":"merged"}}`)
	t.equal(reference(one), "merged", "a merge patch")
	t.equal(one.GetLabels(), map[string]string{"b": "2", "c": "3"}, "its labels")
	again := t.merge("merge-1", `{"spec":{"flunderReference":"merged"}}`)
	t.equal(again.GetResourceVersion(), one.GetResourceVersion(), "no change writes nothing")
	stale := `{"metadata":{"resourceVersion":"1"},"spec":{"flunderReference":"stale"}}`
	_, err := t.flunders.Patch(t.ctx, "merge-1", types.MergePatchType, []byte(stale), metav1.PatchOptions{})
	t.refused(err, 409, metav1.StatusReasonConflict)
	_, err = t.flunders.Patch(t.ctx, "merge-none", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	t.refused(err, 404, metav1.StatusReasonNotFound)
}

func (t *client) dryRun() {
	_, err := t.flunders.Create(t.ctx, flunder("dry-1", nil), metav1.CreateOptions{DryRun: []string{"some"}})
	t.refused(err, 422, metav1.StatusReasonInvalid, "dryRun: Unsupported value")
	all := []string{metav1.DryRunAll}
	made := must(t.flunders.Create(t.ctx, flunder("dry-1", nil), metav1.CreateOptions{DryRun: all}))
	t.check(made.GetUID() != "", "a dry create answers as a create", made)
	t.refused(t.getError("dry-1"), 404, metav1.StatusReasonNotFound)
	before := t.create("dry-2", nil)
	patch := []byte(`{"spec":{"flunderReference":"dry"}}`)
	changed := must(t.flunders.Patch(t.ctx, "dry-2", types.MergePatchType, patch, metav1.PatchOptions{DryRun: all}))
	t.equal(reference(changed), "dry", "a dry patch answers as a patch")
	t.equal(t.flunders.Delete(t.ctx, "dry-2", metav1.DeleteOptions{DryRun: all}), error(nil), "a dry delete")
	t.equal(t.get("dry-2"), before, "nothing was written")
}

func (t *client) fieldValidation() {
	typo := flunder("strict-1", nil)
	typo.Object["spec"].(map[string]any)["typo"] = int64(1)
	_, err := t.flunders.Create(t.ctx, typo, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	t.refused(err, 400, metav1.StatusReasonBadRequest, `strict decoding error: unknown field "spec.typo"`)
	t.wire.take()
	made := must(t.flunders.Create(t.ctx, typo, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn}))
	_, warnings := t.wire.take()
	text, _ := json.Marshal(made.Object["spec"])
	t.equal(string(text), `{"flunderReference":"other","referenceType":"Flunder"}`, "what is unknown is dropped")
	t.equal(warnings, []string{`unknown field "spec.typo"`}, "the warning")
	typo.SetName("strict-2")
	must(t.flunders.Create(t.ctx, typo, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore}))
	_, warnings = t.wire.take()
	t.equal(len(warnings), 0, "no warning if not asked for")
}

func (t *client) deleteStep() {
	one := t.create("delete-1", nil)
	remove := func(name string, uid types.UID) error {
		return t.flunders.Delete(t.ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	}
	t.refused(remove("delete-1", "x"), 409, metav1.StatusReasonConflict,
		"the UID in the precondition (x) does not match the UID in record")
	t.equal(remove("delete-1", one.GetUID()), error(nil), "a delete")
	t.refused(remove("delete-1", one.GetUID()), 404, metav1.StatusReasonNotFound)
	held := flunder("delete-2", nil)
	held.SetFinalizers([]string{"example.com/hold"})
	must(t.flunders.Create(t.ctx, held, metav1.CreateOptions{}))
	t.remove("delete-2")
	kept := t.get("delete-2")
	t.check(kept.GetDeletionTimestamp() != nil, "a finalizer keeps the object, which is marked", kept)
	t.remove("delete-2")
	t.equal(t.get("delete-2").GetResourceVersion(), kept.GetResourceVersion(), "marked once")
	t.merge("delete-2", `{"metadata":{"finalizers":null}}`)
	t.refused(t.getError("delete-2"), 404, metav1.StatusReasonNotFound)
	for policy, finalizer := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
	} {
		t.create("delete-3", nil)
		err := t.flunders.Delete(t.ctx, "delete-3", metav1.DeleteOptions{PropagationPolicy: &policy})
		t.equal(err, error(nil), "a delete with a policy")
		t.equal(t.get("delete-3").GetFinalizers(), []string{finalizer}, "what the policy leaves to do")
		patch := []byte(`[{"op":"remove","path":"/metadata/finalizers/0"}]`)
		must(t.flunders.Patch(t.ctx, "delete-3", types.JSONPatchType, patch, metav1.PatchOptions{}))
		t.refused(t.getError("delete-3"), 404, metav1.StatusReasonNotFound)
	}
}

func (t *client) deleteCollection() {
	for i := range 3 {
		t.create(fmt.Sprintf("collection-%d", i), set("collection"))
	}
	t.create("collection-kept", set("kept"))
	err := t.flunders.DeleteCollection(t.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "set=collection"})
	t.equal(err, error(nil), "a collection is deleted")
	t.equal(names(t.list("set in (collection,kept)").Items), []string{"collection-kept"}, "what is left")
}
