package validation

import (
	"context"
	"encoding/json"
	"os"
	"sort"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var recordScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}()

func viaV1(obj *apiextensions.CustomResourceDefinition) (json.RawMessage, *apiextensions.CustomResourceDefinition, error) {
	var out apiextensionsv1.CustomResourceDefinition
	if err := recordScheme.Convert(obj, &out, nil); err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(&out)
	if err != nil {
		return nil, nil, err
	}
	var back apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &back); err != nil {
		return nil, nil, err
	}
	recordScheme.Default(&back)
	var in apiextensions.CustomResourceDefinition
	if err := recordScheme.Convert(&back, &in, nil); err != nil {
		return nil, nil, err
	}
	return raw, &in, nil
}

type recorded struct {
	Name   string          `json:"name"`
	Old    json.RawMessage `json:"old,omitempty"`
	Object json.RawMessage `json:"object"`
	Errors []string        `json:"errors"`
}

func record(t *testing.T, obj, old *apiextensions.CustomResourceDefinition) {
	path := os.Getenv("RECORD_TO")
	if path == "" {
		return
	}
	raw, in, err := viaV1(obj)
	if err != nil {
		t.Logf("NOT RECORDED %s: %v", t.Name(), err)
		return
	}
	r := recorded{Name: t.Name(), Object: raw, Errors: []string{}}
	var errs field.ErrorList
	if old != nil {
		rawOld, inOld, err := viaV1(old)
		if err != nil {
			t.Logf("NOT RECORDED %s: %v", t.Name(), err)
			return
		}
		r.Old = rawOld
		errs = ValidateCustomResourceDefinitionUpdate(context.TODO(), in, inOld)
	} else {
		errs = ValidateCustomResourceDefinition(context.TODO(), in)
	}
	for _, e := range errs {
		r.Errors = append(r.Errors, e.Error())
	}
	sort.Strings(r.Errors)
	line, err := json.Marshal(r)
	if err != nil {
		t.Logf("NOT RECORDED %s: %v", t.Name(), err)
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write(append(line, '\n'))
}

func recordSchema(t *testing.T, v *apiextensions.CustomResourceValidation, status bool) {
	no := false
	crd := &apiextensions.CustomResourceDefinition{
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "group.com", Version: "version", Scope: apiextensions.NamespaceScoped,
			Names:    apiextensions.CustomResourceDefinitionNames{Plural: "plural", Singular: "singular", Kind: "Plural", ListKind: "PluralList"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{Name: "version", Served: true, Storage: true}},
			Validation: v, PreserveUnknownFields: &no,
		},
		Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"version"}},
	}
	crd.Name = "plural.group.com"
	if status {
		crd.Spec.Subresources = &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}}
	}
	record(t, crd, nil)
}
