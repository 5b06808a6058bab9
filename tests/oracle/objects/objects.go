// Records what apiextensions-apiserver says about random custom objects: one JSON line for each.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math/rand"
	"os"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

type dict = map[string]interface{}
type list = []interface{}

var rnd *rand.Rand

// Upstream's tables have schemas that no definition may have.
var tolerant = false

func chance(one int) bool         { return rnd.Intn(one) == 0 }
func pick(words ...string) string { return words[rnd.Intn(len(words))] }

// A scalar, now and then of a form that Go and C++ may treat differently.
func scalar() interface{} {
	switch rnd.Intn(10) {
	case 0:
		return nil
	case 1:
		return chance(2)
	case 2:
		return rnd.Intn(5)
	case 3:
		return float64(rnd.Intn(40)) / 4
	case 4:
		return rnd.Intn(2000000) - 1000000
	case 5:
		return []float64{1e6, 1.5e-7, 2500000.5, 0.0001, -3.25}[rnd.Intn(5)]
	default:
		return pick("", "a", "b", "ab", "abc", "1", "äö", "2020-01-02", "10.0.0.1", "x@y.z", "100ms")
	}
}

func value(depth int) interface{} {
	if depth == 0 || chance(2) {
		return scalar()
	}
	if chance(2) {
		l := list{}
		for i := rnd.Intn(4); i > 0; i-- {
			l = append(l, value(depth-1))
		}
		return l
	}
	m := dict{}
	for i := rnd.Intn(4); i > 0; i-- {
		m[pick("a", "b", "c", "z")] = value(depth - 1)
	}
	return m
}

func limits(s dict, kind string) {
	some := func(key string, v interface{}) {
		if chance(4) {
			s[key] = v
		}
	}
	switch kind {
	case "integer", "number":
		some("minimum", rnd.Intn(4))
		some("maximum", []interface{}{3, 2.5, 1000000, 7}[rnd.Intn(4)])
		some("multipleOf", []interface{}{2, 0.5, 0.1, 3}[rnd.Intn(4)])
		if s["minimum"] != nil {
			some("exclusiveMinimum", true)
		}
		if s["maximum"] != nil {
			some("exclusiveMaximum", true)
		}
		some("enum", list{1, 2.5, 3})
	case "string":
		some("minLength", rnd.Intn(3))
		some("maxLength", rnd.Intn(4))
		some("pattern", pick("^a", "b$", "^[a-c]*$"))
		some("enum", list{"a", "ab"})
		some("format", pick("date", "ipv4", "email", "duration", "date-time", "odd", "uuid", "byte"))
	case "array":
		some("minItems", rnd.Intn(3))
		some("maxItems", rnd.Intn(4))
	case "object":
		some("minProperties", rnd.Intn(3))
		some("maxProperties", rnd.Intn(4))
	}
}

// What a junctor may say about values of the structure: it must be declared there.
func nested(structure dict, depth int) dict {
	s := dict{}
	kind, _ := structure["type"].(string)
	if kind == "" {
		kind = pick("integer", "string")
	}
	for i := 0; i < 2 && len(s) == 0; i++ {
		limits(s, kind)
	}
	if properties, ok := structure["properties"].(dict); ok {
		if chance(2) {
			s["required"] = list{pick("a", "b", "c")}
		}
		inner := dict{}
		for _, name := range []string{"a", "b", "c"} {
			if p, ok := properties[name].(dict); ok && chance(2) {
				inner[name] = nested(p, depth-1)
			}
		}
		if len(inner) > 0 {
			s["properties"] = inner
		}
	}
	if items, ok := structure["items"].(dict); ok && chance(2) {
		s["items"] = nested(items, depth-1)
	}
	if depth > 0 {
		junctors(s, structure, depth-1, 4)
	}
	return s
}

func junctors(s, structure dict, depth, one int) {
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if !chance(one) {
			continue
		}
		l := list{}
		for i := 1 + rnd.Intn(3); i > 0; i-- {
			l = append(l, nested(structure, depth))
		}
		s[key] = l
	}
	if chance(one * 2) {
		s["not"] = nested(structure, depth)
	}
}

func schema(depth int) dict {
	s := dict{}
	kinds := 12
	if depth == 0 {
		kinds = 6
	}
	switch rnd.Intn(kinds) {
	case 0:
		s["type"] = "boolean"
	case 1:
		s["type"] = "integer"
	case 2:
		s["type"] = "number"
	case 3:
		s["type"] = "string"
	case 4:
		s["x-kubernetes-int-or-string"] = true
		if chance(2) {
			s["anyOf"] = list{dict{"type": "integer"}, dict{"type": "string"}}
		}
	case 5:
		s["x-kubernetes-preserve-unknown-fields"] = true
		if depth > 0 && chance(2) {
			s["properties"] = dict{"a": schema(depth - 1)}
		}
	case 6, 7:
		s["type"] = "array"
		s["items"] = schema(depth - 1)
		lists(s)
	case 8:
		s["type"] = "object"
		if chance(4) {
			s["additionalProperties"] = chance(3)
		} else {
			s["additionalProperties"] = schema(depth - 1)
		}
	default:
		object(s, depth)
	}
	if kind, ok := s["type"].(string); ok {
		limits(s, kind)
		if depth > 0 {
			junctors(s, s, 1, 5)
		} else if chance(4) {
			junctors(s, s, 0, 3)
		}
	}
	if chance(5) {
		s["nullable"] = true
	}
	if chance(6) {
		fallback(s)
	}
	return s
}

func fallback(s dict) {
	switch s["type"] {
	case "string":
		s["default"] = "ab"
	case "integer":
		s["default"] = 2
	case "boolean":
		s["default"] = true
	case "object":
		s["default"] = dict{}
	case "array":
		s["default"] = list{}
	}
}

func lists(s dict) {
	items := s["items"].(dict)
	if kind := items["type"]; (kind == "string" || kind == "integer") && chance(2) {
		s["x-kubernetes-list-type"] = "set"
		delete(items, "nullable")
	}
	if items["type"] == "object" && items["properties"] != nil && chance(2) {
		properties := items["properties"].(dict)
		properties["a"] = dict{"type": pick("string", "integer")}
		s["x-kubernetes-list-type"] = "map"
		s["x-kubernetes-list-map-keys"] = list{"a"}
		if properties["b"] == nil && chance(2) {
			properties["b"] = dict{"type": "string"}
			s["x-kubernetes-list-map-keys"] = list{"a", "b"}
		}
		items["required"] = s["x-kubernetes-list-map-keys"]
		delete(items, "nullable")
	}
}

func object(s dict, depth int) {
	s["type"] = "object"
	properties := dict{}
	for _, name := range []string{"a", "b", "c"} {
		if chance(2) {
			properties[name] = schema(depth - 1)
		}
	}
	if len(properties) == 0 {
		properties["a"] = schema(depth - 1)
	}
	s["properties"] = properties
	if chance(3) {
		s["required"] = list{pick("a", "b", "c")}
	}
	if chance(6) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	} else if chance(6) {
		s["additionalProperties"] = true
	}
	if chance(8) {
		s["x-kubernetes-embedded-resource"] = true
		delete(s, "additionalProperties")
	}
}

// A value that mostly fits.
func fitting(s dict, depth int) interface{} {
	if chance(8) {
		return value(2)
	}
	kind, _ := s["type"].(string)
	switch kind {
	case "boolean":
		return chance(2)
	case "integer":
		return rnd.Intn(6)
	case "number":
		return float64(rnd.Intn(20)) / 4
	case "string":
		return pick("", "a", "b", "ab", "abc", "äb", "2020-01-02", "10.0.0.1", "1h", "YWI=")
	case "array":
		l := list{}
		for i := rnd.Intn(4); i > 0; i-- {
			l = append(l, fitting(s["items"].(dict), depth-1))
		}
		return l
	case "object":
		m := dict{}
		if properties, ok := s["properties"].(dict); ok {
			for _, name := range []string{"a", "b", "c"} {
				if p, ok := properties[name].(dict); ok && !chance(4) {
					m[name] = fitting(p, depth-1)
				}
			}
			if chance(6) {
				m["z"] = value(2)
			}
		}
		if inner, ok := s["additionalProperties"].(dict); ok {
			for i := rnd.Intn(3); i > 0; i-- {
				m[pick("k", "l", "m")] = fitting(inner, depth-1)
			}
		} else if s["properties"] == nil {
			return value(2)
		}
		if s["x-kubernetes-embedded-resource"] == true {
			embedded(m)
		}
		return m
	default:
		if s["x-kubernetes-int-or-string"] == true && !chance(4) {
			if chance(2) {
				return rnd.Intn(4)
			}
			return pick("a", "ab", "")
		}
		return value(2)
	}
}

func embedded(m dict) {
	if !chance(4) {
		m["apiVersion"] = []interface{}{"v1", "g/v1", "a/b/c", "", 7}[rnd.Intn(5)]
	}
	if !chance(4) {
		m["kind"] = []interface{}{"Pod", "pod_", "", "Foo", nil}[rnd.Intn(5)]
	}
	if !chance(3) {
		m["metadata"] = []interface{}{
			dict{"name": "n", "labels": dict{"a": "b"}},
			dict{"name": "N_", "foo": "x"},
			dict{"name": 7, "namespace": "ns"},
			dict{"labels": dict{"bad key": "v"}, "creationTimestamp": nil},
			dict{"generateName": "x-", "finalizers": list{"no"}, "namespace": "Bad_"},
			"text",
		}[rnd.Intn(6)]
	}
}

// The old object of an update: mostly like the new one.
func changed(v interface{}) interface{} {
	switch v := v.(type) {
	case dict:
		m := dict{}
		for k, e := range v {
			if !chance(8) {
				m[k] = changed(e)
			}
		}
		return m
	case list:
		l := list{}
		for _, e := range v {
			if !chance(8) {
				l = append(l, changed(e))
			}
		}
		if len(l) > 1 && chance(4) {
			l[0], l[1] = l[1], l[0]
		}
		return l
	}
	if chance(6) {
		return scalar()
	}
	return v
}

func texts(errs field.ErrorList) []string {
	all := []string{}
	for _, err := range errs {
		all = append(all, err.Error())
	}
	sort.Strings(all)
	return all
}

func clone(v interface{}) interface{} {
	data, err := utiljson.Marshal(v)
	if err != nil {
		panic(err)
	}
	var copied interface{}
	if err := utiljson.Unmarshal(data, &copied); err != nil {
		panic(err)
	}
	return copied
}

func record(spec dict, object, old interface{}) (dict, bool) {
	root := dict{"type": "object", "properties": dict{"spec": spec}}
	data, _ := json.Marshal(root)
	v1 := apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(data, &v1); err != nil {
		panic(err)
	}
	internal := apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		panic(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, false
	}
	if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 && !tolerant {
		return nil, false
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		panic(err)
	}
	content := clone(dict{"spec": object}).(dict)
	before := clone(dict{"spec": old}).(dict)
	line := dict{"schema": spec, "object": object}
	lists := listtype.ValidateListSetsAndMaps(nil, structural, content)
	line["errors"] = texts(append(validation.ValidateCustomResource(nil, content, validator), lists...))
	correlated := common.NewCorrelatedObject(content, before, &model.Structural{Structural: structural})
	line["old"] = old
	updated := validation.ValidateCustomResourceUpdate(nil, content, before, validator, validation.WithRatcheting(correlated))
	if len(listtype.ValidateListSetsAndMaps(nil, structural, before)) == 0 {
		updated = append(updated, lists...)
	}
	line["updated"] = texts(updated)
	if errs := texts(objectmeta.Validate(nil, content, structural, false)); len(errs) > 0 {
		line["embedded"] = errs
	}
	settled := clone(content).(dict)
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	if unknown := pruning.PruneWithOptions(settled, structural, true, options); len(unknown) > 0 {
		line["unknown"] = unknown
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(settled, structural)
	stored := runtime.DeepCopyJSON(settled)
	misfit := ""
	// Which of several misfits is told of depends on the order of a Go map.
	for i := 0; i < 20; i++ {
		err := objectmeta.Coerce(nil, runtime.DeepCopyJSON(stored), structural, false, false)
		if err != nil && misfit != "" && misfit != err.Error() {
			return nil, false
		}
		if err != nil {
			misfit = err.Error()
		}
	}
	if err := objectmeta.Coerce(nil, settled, structural, false, false); err != nil {
		line["misfit"] = misfit
	} else {
		defaulting.Default(settled, structural)
		line["settled"] = settled["spec"]
	}
	if err := objectmeta.Coerce(nil, stored, structural, false, true); err != nil {
		panic(err)
	}
	defaulting.Default(stored, structural)
	if line["misfit"] != nil {
		line["stored"] = stored["spec"]
	}
	return line, true
}

// Gives each node of a structure that has none a type, which the tables leave out.
func complete(s dict) {
	kind := ""
	if items, ok := s["items"].(dict); ok {
		kind = "array"
		complete(items)
	}
	for _, key := range []string{"properties", "additionalProperties"} {
		switch below := s[key].(type) {
		case dict:
			kind = "object"
			if key == "additionalProperties" {
				complete(below)
				continue
			}
			for _, property := range below {
				complete(property.(dict))
			}
		case bool:
			kind = "object"
		}
	}
	if s["x-kubernetes-embedded-resource"] == true {
		kind = "object"
	}
	free := s["x-kubernetes-int-or-string"] == true || s["x-kubernetes-preserve-unknown-fields"] == true
	if s["type"] != nil || free {
		return
	}
	if kind == "" {
		kind = "integer"
	}
	s["type"] = kind
}

// Answers the questions in standard input: rows of upstream's tables.
func answer(out *bufio.Writer) {
	questions := json.NewDecoder(os.Stdin)
	for questions.More() {
		question := dict{}
		if err := questions.Decode(&question); err != nil {
			panic(err)
		}
		spec := question["schema"].(dict)
		complete(spec)
		line, ok := record(spec, question["object"], question["old"])
		if !ok {
			continue
		}
		line["table"], line["case"] = question["table"], question["case"]
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(line); err != nil {
			panic(err)
		}
	}
}

func main() {
	ask := flag.Bool("ask", false, "answer questions instead of making them")
	seed := flag.Int64("seed", 1, "")
	count := flag.Int("count", 1000, "")
	most := flag.Int("most", 700, "the longest line")
	flag.Parse()
	rnd = rand.New(rand.NewSource(*seed))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if *ask {
		tolerant = true
		answer(out)
		return
	}
	for n := 0; n < *count; {
		spec := schema(2)
		object := fitting(spec, 3)
		line, ok := record(spec, object, changed(clone(object)))
		if !ok {
			continue
		}
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(line); err != nil {
			panic(err)
		}
		if buffer.Len() > *most {
			continue
		}
		out.Write(buffer.Bytes())
		n++
	}
}
