// Records what apiextensions-apiserver says about definitions whose schemas have each member at
// each place: one JSON line for each. See ../README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type dict = map[string]interface{}
type list = []interface{}

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}()

func definition(schema interface{}) *apiextensions.CustomResourceDefinition {
	content := dict{
		"metadata": dict{"name": "plural.group.com", "resourceVersion": "1"},
		"spec": dict{
			"group": "group.com", "scope": "Cluster", "names": dict{"plural": "plural", "kind": "Plural"},
			"versions": list{dict{"name": "v1", "served": true, "storage": true, "schema": dict{"openAPIV3Schema": schema}}},
		},
		"status": dict{"storedVersions": list{"v1"}},
	}
	data, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	v1 := apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(data, &v1); err != nil {
		return nil
	}
	scheme.Default(&v1)
	internal := apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(&v1, &internal, nil); err != nil {
		panic(err)
	}
	return &internal
}

func texts(errs field.ErrorList) []string {
	all := []string{}
	for _, err := range errs {
		all = append(all, err.Error())
	}
	sort.Strings(all)
	return all
}

type line struct {
	Name   string      `json:"name"`
	Old    interface{} `json:"old,omitempty"`
	Schema interface{} `json:"schema"`
	Errors []string    `json:"errors"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	rows := grid()
	if len(os.Args) > 1 && os.Args[1] == "updates" {
		rows = updates(rows)
	}
	for _, row := range rows {
		object := definition(row.Schema)
		if object == nil {
			continue
		}
		if row.Old == nil {
			row.Errors = texts(validation.ValidateCustomResourceDefinition(context.TODO(), object))
		} else {
			row.Errors = texts(validation.ValidateCustomResourceDefinitionUpdate(context.TODO(), object, definition(row.Old)))
		}
		if err := encoder.Encode(row); err != nil {
			panic(err)
		}
	}
}
