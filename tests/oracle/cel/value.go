package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuralcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// input is what a variable is bound to: JSON (seen through the variable's schema if it has one), a tagged
// value, an authorizer that answers everything alike, or an error.
type input struct {
	JSON       json.RawMessage  `json:"json"`
	Value      json.RawMessage  `json:"value"`
	Authorizer *fixedAuthorizer `json:"authorizer"`
	Resource   *fixedAuthorizer `json:"request_resource"`
}

func (in *input) resolve(s *structural.Structural, optional bool) (any, error) {
	switch {
	case in.Authorizer != nil:
		return library.NewAuthorizerVal(requester, in.Authorizer), nil
	case in.Resource != nil:
		return library.NewResourceAuthorizerVal(requester, in.Resource, endpoints{}), nil
	case len(in.Value) > 0:
		return decode(in.Value)
	}
	var data any
	if len(in.JSON) > 0 {
		if err := utiljson.Unmarshal(in.JSON, &data); err != nil {
			return nil, err
		}
	}
	if s == nil {
		return data, nil
	}
	if optional {
		if len(in.JSON) == 0 || data == nil {
			return types.OptionalNone, nil
		}
		return types.OptionalOf(structuralcel.UnstructuredToVal(data, s)), nil
	}
	return structuralcel.UnstructuredToVal(data, s), nil
}

var requester = &user.DefaultInfo{Name: "alice", Groups: []string{"system:authenticated"}}

// endpoints is the resource of the request that authorizer.requestResource asks for.
type endpoints struct{}

func (endpoints) GetName() string      { return "endpoints1" }
func (endpoints) GetNamespace() string { return "default" }
func (endpoints) GetResource() (r groupVersionResource) {
	r.Version, r.Resource = "v1", "endpoints"
	return r
}
func (endpoints) GetSubresource() string { return "" }

// fixedAuthorizer answers every question alike.
type fixedAuthorizer struct {
	Decision string `json:"decision"` // allow, deny or no-opinion
	Reason   string `json:"reason"`
	Error    string `json:"error"`
}

func (f *fixedAuthorizer) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	var err error
	if f.Error != "" {
		err = errors.New(f.Error)
	}
	switch f.Decision {
	case "allow":
		return authorizer.DecisionAllow, f.Reason, err
	case "deny":
		return authorizer.DecisionDeny, f.Reason, err
	}
	return authorizer.DecisionNoOpinion, f.Reason, err
}

// tagged is a value of CEL in JSON: one member, named by its kind.
type tagged map[string]any

func encode(v ref.Val) any {
	switch x := v.(type) {
	case types.Null:
		return tagged{"null": nil}
	case types.Bool:
		return tagged{"bool": bool(x)}
	case types.Int:
		return tagged{"int": strconv.FormatInt(int64(x), 10)}
	case types.Uint:
		return tagged{"uint": strconv.FormatUint(uint64(x), 10)}
	case types.Double:
		return tagged{"double": doubleText(float64(x))}
	case types.String:
		return tagged{"string": string(x)}
	case types.Bytes:
		return tagged{"bytes": base64.StdEncoding.EncodeToString(x)}
	case types.Timestamp:
		return tagged{"timestamp": x.Time.UTC().Format(time.RFC3339Nano)}
	case types.Duration:
		return tagged{"duration": strconv.FormatInt(int64(x.Duration), 10)}
	case *types.Type:
		return tagged{"type": x.TypeName()}
	case *types.Optional:
		if !x.HasValue() {
			return tagged{"optional": nil}
		}
		return tagged{"optional": encode(x.GetValue())}
	case *types.Err:
		return tagged{"error": x.Error()}
	case *dynamic.ObjectVal:
		return encodeObject(x)
	case *mutation.JSONPatchVal:
		return encodePatch(x)
	case traits.Lister:
		return encodeList(x)
	case traits.Mapper:
		return encodeMap(x)
	}
	if s, ok := v.(fmt.Stringer); ok {
		return tagged{"opaque": []string{v.Type().TypeName(), s.String()}}
	}
	return tagged{"opaque": []string{v.Type().TypeName(), ""}}
}

// doubleText is the shortest text that reads back as the same number.
func doubleText(x float64) string {
	if math.IsNaN(x) {
		return "NaN"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func encodeList(l traits.Lister) any {
	items := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		items = append(items, encode(it.Next()))
	}
	return tagged{"list": items}
}

// encodeMap sorts by the encoded keys: Go's maps have no order.
func encodeMap(m traits.Mapper) any {
	type entry struct {
		order string
		pair  [2]any
	}
	entries := []entry{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		value, found := m.Find(key)
		if !found {
			continue
		}
		k := encode(key)
		text, _ := json.Marshal(k)
		entries = append(entries, entry{string(text), [2]any{k, encode(value)}})
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].order < entries[j].order })
	pairs := make([][2]any, len(entries))
	for i := range entries {
		pairs[i] = entries[i].pair
	}
	return tagged{"map": pairs}
}

// encodeObject writes an object of a MutatingAdmissionPolicy ("Object.spec{...}") as its type's name and JSON.
func encodeObject(o *dynamic.ObjectVal) any {
	if fields, ok := o.Value().(map[string]any); ok {
		return tagged{"object": []any{o.Type().TypeName(), fields}}
	}
	return tagged{"opaque": []string{o.Type().TypeName(), ""}}
}

// encodePatch writes the fields of a JSONPatch that are set.
func encodePatch(p *mutation.JSONPatchVal) any {
	fields := map[string]any{}
	for name, text := range map[string]string{"op": p.Op, "from": p.From, "path": p.Path} {
		if text != "" {
			fields[name] = text
		}
	}
	if p.Val != nil {
		fields["value"] = p.Val.Value()
	}
	return tagged{"object": []any{p.Type().TypeName(), fields}}
}

// decode reads a tagged value.
func decode(text []byte) (ref.Val, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	if len(members) != 1 {
		return nil, fmt.Errorf("a tagged value has one member: %s", text)
	}
	for tag, body := range members {
		switch tag {
		case "null":
			return types.NullValue, nil
		case "bool":
			return types.Bool(string(body) == "true"), nil
		case "list":
			return decodeList(body)
		case "map":
			return decodeMap(body)
		case "optional":
			if string(body) == "null" {
				return types.OptionalNone, nil
			}
			inner, err := decode(body)
			return types.OptionalOf(inner), err
		}
		var s string
		if err := json.Unmarshal(body, &s); err != nil {
			return nil, err
		}
		return decodeScalar(tag, s)
	}
	return nil, errors.New("unreachable")
}

func decodeScalar(tag, s string) (ref.Val, error) {
	switch tag {
	case "int":
		i, err := strconv.ParseInt(s, 10, 64)
		return types.Int(i), err
	case "uint":
		u, err := strconv.ParseUint(s, 10, 64)
		return types.Uint(u), err
	case "double":
		d, err := strconv.ParseFloat(s, 64)
		return types.Double(d), err
	case "string":
		return types.String(s), nil
	case "bytes":
		b, err := base64.StdEncoding.DecodeString(s)
		return types.Bytes(b), err
	case "timestamp":
		t, err := time.Parse(time.RFC3339Nano, s)
		return types.Timestamp{Time: t}, err
	case "duration":
		i, err := strconv.ParseInt(s, 10, 64)
		return types.Duration{Duration: time.Duration(i)}, err
	case "type":
		t, err := parseType(s)
		return t, err
	case "error":
		return types.NewErr("%s", s), nil
	}
	return nil, fmt.Errorf("unknown tag %q", tag)
}

func decodeList(body []byte) (ref.Val, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(body, &items); err != nil {
		return nil, err
	}
	values := make([]ref.Val, len(items))
	for i := range items {
		var err error
		if values[i], err = decode(items[i]); err != nil {
			return nil, err
		}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values), nil
}

func decodeMap(body []byte) (ref.Val, error) {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(body, &pairs); err != nil {
		return nil, err
	}
	values := map[ref.Val]ref.Val{}
	for _, pair := range pairs {
		key, err := decode(pair[0])
		if err != nil {
			return nil, err
		}
		if values[key], err = decode(pair[1]); err != nil {
			return nil, err
		}
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, values), nil
}
