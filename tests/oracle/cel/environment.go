package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// declaration describes an environment: Kubernetes' base environment of a version and the variables on top.
type declaration struct {
	Name       string     `json:"name"`
	Version    string     `json:"version"`     // "1.36" if empty
	New        bool       `json:"new"`         // NewExpressions instead of StoredExpressions
	Container  string     `json:"container"`   // for cel-spec's tests only
	NoMacros   bool       `json:"no_macros"`   // likewise
	Admission  bool       `json:"admission"`   // object, oldObject, request and namespaceObject of a policy
	Params     bool       `json:"params"`      // and params
	Authorizer bool       `json:"authorizer"`  // and authorizer, authorizer.requestResource
	Patch      bool       `json:"patch"`       // the types of MutatingAdmissionPolicy
	StringSize *uint64    `json:"string_size"` // the estimator takes every string and bytes for 0 to so many long
	Variables  []variable `json:"variables"`
}

// variable is typed by the display text of a CEL type, by a structural schema, or as another variable is.
type variable struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Schema   json.RawMessage `json:"schema"`
	View     json.RawMessage `json:"view"`     // a schema for the values of a dyn variable
	Root     bool            `json:"root"`     // the schema is a resource's
	Same     string          `json:"same"`     // typed as the variable of this name (oldSelf as self)
	Optional bool            `json:"optional"` // optional_type of that
}

type environmentUnderTest struct {
	env       *cel.Env
	estimator *library.CostEstimator
	schemas   map[string]*structural.Structural // by variable, as their values are seen through
	types     map[string]*apiservercel.DeclType
	optional  map[string]bool
}

func newEnvironment(d *declaration) (*environmentUnderTest, error) {
	e := &environmentUnderTest{
		schemas:  map[string]*structural.Structural{},
		types:    map[string]*apiservercel.DeclType{},
		optional: map[string]bool{},
	}
	options, declared, err := e.declare(d)
	if err != nil {
		return nil, err
	}
	if d.Version == "" {
		d.Version = "1.36"
	}
	at, err := version.ParseGeneric(d.Version)
	if err != nil {
		return nil, err
	}
	set, err := environment.MustBaseEnvSet(at).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
		DeclTypes:         declared,
	})
	if err != nil {
		return nil, err
	}
	if d.Patch {
		// After the variables, as in createEnvForOpts of the admission plugin: a provider of declared types
		// takes the place of those before it.
		if set, err = set.Extend(patchTypes); err != nil {
			return nil, err
		}
	}
	e.env = set.StoredExpressionsEnv()
	if d.New {
		e.env = set.NewExpressionsEnv()
	}
	if d.NoMacros {
		if e.env, err = e.env.Extend(cel.ClearMacros()); err != nil {
			return nil, err
		}
	}
	e.estimator = &library.CostEstimator{SizeEstimator: &sizeEstimator{types: e.types, stringSize: d.StringSize}}
	return e, nil
}

// patchTypes is hasPatchTypes of the admission plugin.
var patchTypes = environment.VersionedOptions{
	IntroducedVersion: version.MajorMinor(1, 0),
	EnvOptions: []cel.EnvOption{
		common.ResolverEnvOption(&mutation.DynamicTypeResolver{}),
		environment.UnversionedLib(library.JSONPatch),
	},
}

// declare turns the variables into options and the types they need.
func (e *environmentUnderTest) declare(d *declaration) ([]cel.EnvOption, []*apiservercel.DeclType, error) {
	var options []cel.EnvOption
	var declared []*apiservercel.DeclType
	if d.Container != "" {
		options = append(options, cel.Container(d.Container))
	}
	if d.Admission {
		more, moreTypes := admissionVariables(d)
		options, declared = append(options, more...), append(declared, moreTypes...)
	}
	for _, v := range d.Variables {
		celType, declType, err := e.typeOf(&v)
		if err != nil {
			return nil, nil, fmt.Errorf("variable %q: %w", v.Name, err)
		}
		if celType == nil {
			continue // a schema without a type: Kubernetes declares nothing
		}
		if declType != nil {
			declared = append(declared, declType)
		}
		if v.Optional {
			celType = types.NewOptionalType(celType)
			e.optional[v.Name] = true
		}
		options = append(options, cel.Variable(v.Name, celType))
	}
	return options, declared, nil
}

// admissionVariables follows createEnvForOpts of k8s.io/apiserver/pkg/admission/plugin/cel/compile.go.
func admissionVariables(d *declaration) ([]cel.EnvOption, []*apiservercel.DeclType) {
	request, namespace := admissioncel.BuildRequestType(), admissioncel.BuildNamespaceType()
	options := []cel.EnvOption{
		cel.Variable(admissioncel.ObjectVarName, cel.DynType),
		cel.Variable(admissioncel.OldObjectVarName, cel.DynType),
		cel.Variable(admissioncel.NamespaceVarName, namespace.CelType()),
		cel.Variable(admissioncel.RequestVarName, request.CelType()),
	}
	if d.Params {
		options = append(options, cel.Variable(admissioncel.ParamsVarName, cel.DynType))
	}
	if d.Authorizer {
		options = append(options, cel.Variable(admissioncel.AuthorizerVarName, library.AuthorizerType),
			cel.Variable(admissioncel.RequestResourceAuthorizerVarName, library.ResourceCheckType))
	}
	return options, []*apiservercel.DeclType{namespace, request}
}

// typeOf answers the type of a variable, and the declaration behind it if the environment must learn of it.
func (e *environmentUnderTest) typeOf(v *variable) (*cel.Type, *apiservercel.DeclType, error) {
	switch {
	case v.Same != "":
		same, ok := e.types[v.Same]
		if !ok {
			return nil, nil, fmt.Errorf("no variable %q with a schema before it", v.Same)
		}
		e.types[v.Name], e.schemas[v.Name] = same, e.schemas[v.Same]
		return same.CelType(), nil, nil
	case len(v.Schema) > 0:
		s, err := readSchema(v.Schema)
		if err != nil {
			return nil, nil, err
		}
		declType := model.SchemaDeclType(s, v.Root)
		if declType == nil {
			return nil, nil, nil
		}
		declType = declType.MaybeAssignTypeName(v.Name + "Type")
		if v.Root {
			s = model.WithTypeAndObjectMeta(s)
		}
		e.types[v.Name], e.schemas[v.Name] = declType, s
		return declType.CelType(), declType, nil
	case v.Type != "":
		t, err := parseType(v.Type)
		if err == nil && len(v.View) > 0 {
			e.schemas[v.Name], err = readSchema(v.View)
		}
		return t, nil, err
	}
	return nil, nil, errors.New("neither type nor schema")
}

// readSchema reads an OpenAPI v3 schema as a CustomResourceDefinition holds it.
func readSchema(text []byte) (*structural.Structural, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &v1); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		return nil, err
	}
	return structural.NewStructural(&internal)
}

// sizeEstimator answers as the CRD validation's does (apiextensions-apiserver's schema/cel/compilation.go),
// for any number of variables with schemas instead of self and oldSelf.
type sizeEstimator struct {
	types      map[string]*apiservercel.DeclType
	stringSize *uint64
}

func (c *sizeEstimator) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if c.stringSize != nil {
		if t := element.Type(); t != nil && (t.IsExactType(cel.StringType) || t.IsExactType(cel.BytesType)) {
			return &checker.SizeEstimate{Min: 0, Max: *c.stringSize}
		}
		return nil
	}
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	node, ok := c.types[path[0]]
	if !ok {
		// Kubernetes takes every path for one of self, also that of int in type(self.x) == int.
		node = c.types["self"]
	}
	for _, name := range path[1:] {
		if node == nil {
			return nil
		}
		switch name {
		case "@items", "@values":
			node = node.ElemType
		case "@keys":
			node = node.KeyType
		default:
			field, ok := node.Fields[name]
			if !ok {
				return nil
			}
			node = field.Type
		}
	}
	if node == nil {
		return nil
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(node.MaxElements)}
}

func (c *sizeEstimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// programOptions are those of the CRD validation; the admission plugin's differ in the estimator, which only
// counts where a function's run-time cost asks it for sizes: none does.
func (e *environmentUnderTest) programOptions(l *line) []cel.ProgramOption {
	options := []cel.ProgramOption{
		cel.CostTracking(e.estimator),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency),
	}
	if l.Limit != nil {
		options = append(options, cel.CostLimit(*l.Limit))
	}
	return options
}
