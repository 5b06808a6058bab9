package main

import (
	"encoding/json"
	"fmt"
)

func parse(text string) interface{} {
	var v interface{}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(text + ": " + err.Error())
	}
	return v
}

// Where a node stands in a schema: the text has it for "%s".
var places = []struct{ name, schema string }{
	{"root", `%s`},
	{"metadata", `{"type":"object","properties":{"metadata":%s}}`},
	{"metadata.name", `{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":%s}}}}`},
	{"metadata.labels", `{"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":%s}}}}`},
	{"kind", `{"type":"object","properties":{"kind":%s}}`},
	{"property", `{"type":"object","properties":{"a":%s}}`},
	{"items", `{"type":"object","properties":{"a":{"type":"array","items":%s}}}`},
	{"set", `{"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"set","items":%s}}}`},
	{"map", `{"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":%s}}}`},
	{"key", `{"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":%s}}}}}`},
	{"additionalProperties", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":%s}}}`},
	{"embedded", `{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"properties":{"a":%s}}}}`},
	{"embedded metadata", `{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":%s}}}}`},
	{"embedded apiVersion", `{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"apiVersion":%s}}}}`},
	{"allOf", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"allOf":[%s]}}}`},
	{"anyOf", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"anyOf":[{"minItems":1},%s]}}}`},
	{"oneOf", `{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[%s]}`},
	{"not", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"not":%s}}}`},
	{"allOf.properties", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"allOf":[{"properties":{"b":%s}}]}}}`},
	{"allOf.properties of others", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"allOf":[{"properties":{"c":%s}}]}}}`},
	{"allOf.metadata", `{"type":"object","properties":{"metadata":{"type":"object"}},"allOf":[{"properties":{"metadata":%s}}]}`},
	{"anyOf.items", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"anyOf":[{"items":%s}]}}}`},
	{"not.items of none", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"not":{"items":%s}}}}`},
	{"oneOf.anyOf", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"oneOf":[{"anyOf":[%s]}]}}}`},
	{"allOf.additionalProperties", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"},"allOf":[{"additionalProperties":%s}]}}}`},
	{"allOf.properties beside additionalProperties", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"},"allOf":[{"properties":{"b":%s}}]}}}`},
}

// Nodes to which each member is added.
var nodes = []struct{ name, schema string }{
	{"nothing", `{}`},
	{"object", `{"type":"object"}`},
	{"string", `{"type":"string"}`},
}

// Nodes that are tried as they are.
var others = []string{
	`{"type":"integer"}`, `{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`, `{"type":"null"}`, `{"type":"strin"}`, `{"type":""}`,
	`{"x-kubernetes-int-or-string":true}`, `{"x-kubernetes-int-or-string":true,"type":"string"}`, `{"x-kubernetes-int-or-string":true,"x-kubernetes-preserve-unknown-fields":true}`,
	`{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`, `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"string"},{"type":"integer"}]}`,
	`{"x-kubernetes-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}]}`, `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^a"}`,
	`{"x-kubernetes-int-or-string":true,"x-kubernetes-embedded-resource":true}`, `{"x-kubernetes-preserve-unknown-fields":true}`,
	`{"type":"object","x-kubernetes-embedded-resource":true}`, `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`,
	`{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}}`,
	`{"type":"object","x-kubernetes-embedded-resource":true,"additionalProperties":{"type":"string"}}`, `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"kind":{"type":"integer"}}}`,
	`{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":false}`,
	`{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":true}`, `{"type":"object","properties":{"b":{}}}`, `{"type":"object","additionalProperties":{}}`,
	`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`, `{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]}`, `{"type":"object","properties":{"k":{"type":"string","default":"x"}}}`,
	`{"type":"object","properties":{"k":{"type":"string"}}}`, `{"type":"object","properties":{"k":{"type":"string"}},"required":["k"],"nullable":true}`, `{"type":"string","nullable":true}`,
	`{"type":"object","x-kubernetes-map-type":"atomic"}`, `{"type":"object","x-kubernetes-map-type":"granular"}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"atomic"}`,
	`{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"map"}`, `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}`,
	`{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}`,
	`{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","k"]}`,
	`{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["l"]}`,
	`{"type":"object","default":{}}`, `{"type":"object","default":null,"nullable":true}`, `{"type":"string","default":5}`, `{"type":"object","properties":{"b":{"type":"string"}},"default":{"c":1}}`,
	`{"type":"string","default":"a","enum":["b"]}`, `{"type":"object","properties":{"b":{"type":"string","default":"x"}}}`,
}

// Members with values that fit the Go type.
var members = []string{
	`"id":"x"`, `"$schema":"x"`, `"$ref":"x"`, `"$ref":""`, `"description":"d"`, `"type":"object"`, `"type":"integer"`, `"format":"date"`, `"format":"odd"`, `"title":"t"`, `"default":"x"`, `"default":{}`,
	`"maximum":1`, `"exclusiveMaximum":true`, `"minimum":1`, `"exclusiveMinimum":true`, `"maxLength":1`, `"minLength":1`, `"pattern":"^a"`, `"pattern":"("`, `"maxItems":1`, `"minItems":1`,
	`"uniqueItems":true`, `"multipleOf":2`, `"enum":["a"]`, `"maxProperties":1`, `"minProperties":1`, `"required":["b"]`, `"items":{"type":"string"}`, `"items":[{"type":"string"}]`,
	`"allOf":[{"minLength":1}]`, `"oneOf":[{"required":["b"]}]`, `"anyOf":[{}]`, `"not":{"type":"string"}`, `"properties":{"b":{"type":"string"}}`, `"properties":{"metadata":{"type":"object"}}`,
	`"additionalProperties":{"type":"string"}`, `"additionalProperties":true`, `"additionalProperties":false`, `"patternProperties":{"a":{"type":"string"}}`, `"dependencies":{"a":["b"]}`,
	`"additionalItems":{"type":"string"}`, `"additionalItems":false`, `"definitions":{"a":{"type":"string"}}`, `"externalDocs":{"url":"u"}`, `"example":1`, `"nullable":true`,
	`"x-kubernetes-preserve-unknown-fields":true`, `"x-kubernetes-preserve-unknown-fields":false`, `"x-kubernetes-embedded-resource":true`, `"x-kubernetes-int-or-string":true`,
	`"x-kubernetes-list-map-keys":["k"]`, `"x-kubernetes-list-type":"set"`, `"x-kubernetes-list-type":"odd"`, `"x-kubernetes-map-type":"atomic"`, `"x-kubernetes-map-type":"odd"`,
	`"x-kubernetes-validations":[{"rule":"true"}]`, `"x-kubernetes-validations":[{"rule":"self == oldSelf"}]`,
}

func grid() []line {
	rows := []line{}
	add := func(place struct{ name, schema string }, node string) {
		rows = append(rows, line{Name: place.name + ": " + node, Schema: parse(fmt.Sprintf(place.schema, node))})
	}
	for _, place := range places {
		for _, node := range nodes {
			add(place, node.schema)
			for _, member := range members {
				with := parse(node.schema).(dict)
				for key, value := range parse("{" + member + "}").(dict) {
					with[key] = value
				}
				text, _ := json.Marshal(with)
				add(place, string(text))
			}
		}
		for _, node := range others {
			add(place, node)
		}
	}
	return rows
}
