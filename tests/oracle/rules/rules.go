// Command rules answers what Kubernetes 1.36 makes of the rules (x-kubernetes-validations) of a schema: what they
// find in an object, or what is wrong with them. README.md describes the lines it reads and writes.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

// rulesQuestion asks what the rules of a schema find in an object, or with check what is wrong with the
// schema of a CustomResourceDefinition.
type rulesQuestion struct {
	ID       json.RawMessage `json:"id"`
	Schema   json.RawMessage `json:"schema"`
	Object   json.RawMessage `json:"object"`
	Old      json.RawMessage `json:"old"`
	Resource bool            `json:"resource"`
	Ratchet  bool            `json:"ratchet"`
	Budget   *int64          `json:"budget"`
	PerCall  *uint64         `json:"per_call"`
	Check    bool            `json:"check"`
}

type rulesAnswer struct {
	ID        json.RawMessage `json:"id,omitempty"`
	Errors    []string        `json:"errors"`
	Warnings  []string        `json:"warnings,omitempty"`
	Remaining *int64          `json:"remaining,omitempty"`
}

type warningRecorder struct {
	mutex sync.Mutex
	texts []string
}

func (r *warningRecorder) AddWarning(_, text string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.texts = append(r.texts, text)
}

func texts(errs field.ErrorList) []string {
	all := make([]string, 0, len(errs))
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// readData reads JSON as an API server does: whole numbers without a point are int64.
func readData(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return numbers(value)
}

func numbers(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		return v.Float64()
	case []any:
		for i := range v {
			item, err := numbers(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = item
		}
	case map[string]any:
		for k := range v {
			item, err := numbers(v[k])
			if err != nil {
				return nil, err
			}
			v[k] = item
		}
	}
	return value, nil
}

func readProps(text []byte) (*apiextensions.JSONSchemaProps, error) {
	var external apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &external); err != nil {
		return nil, err
	}
	internal := &apiextensions.JSONSchemaProps{}
	return internal, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, internal, nil)
}

// maxLine bounds a line.
const maxLine = 16 << 20

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxLine)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for n := 1; in.Scan(); n++ {
		answered, err := answer(in.Bytes())
		if err == nil {
			err = out.Encode(answered)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "oracle: line %d: %v\n", n, err)
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// answer answers one line.
func answer(text []byte) (any, error) {
	var q rulesQuestion
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	props, err := readProps(q.Schema)
	if err != nil {
		return nil, err
	}
	if q.Check {
		return rulesAnswer{ID: q.ID, Errors: texts(checkSchema(props))}, nil
	}
	schema, err := structural.NewStructural(props)
	if err != nil {
		return nil, err
	}
	object, err := readData(q.Object)
	if err != nil {
		return nil, err
	}
	old, err := readData(q.Old)
	if err != nil {
		return nil, err
	}
	perCall := uint64(celconfig.PerCallLimit)
	if q.PerCall != nil {
		perCall = *q.PerCall
	}
	budget := int64(celconfig.RuntimeCELCostBudget)
	if q.Budget != nil {
		budget = *q.Budget
	}
	var options []schemacel.Option
	if q.Ratchet {
		options = append(options, schemacel.WithRatcheting(common.NewCorrelatedObject(object, old, &model.Structural{Structural: schema})))
	}
	recorder := &warningRecorder{}
	ctx := warning.WithWarningRecorder(context.Background(), recorder)
	validator := schemacel.NewValidator(schema, q.Resource, perCall)
	errs, remaining := validator.Validate(ctx, nil, schema, object, old, budget, options...)
	return rulesAnswer{ID: q.ID, Errors: texts(errs), Warnings: recorder.texts, Remaining: &remaining}, nil
}

// checkSchema validates a CustomResourceDefinition of one version that has the schema.
func checkSchema(props *apiextensions.JSONSchemaProps) field.ErrorList {
	preserve := false
	crd := &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", ResourceVersion: "1"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: props},
			}},
			Conversion:            &apiextensions.CustomResourceConversion{Strategy: apiextensions.NoneConverter},
			PreserveUnknownFields: &preserve,
		},
		Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	return validation.ValidateCustomResourceDefinition(context.Background(), crd)
}
