package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	exprpb "cel.dev/expr"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type tagged = map[string]any

// tag writes a value of a test as the oracle does (tests/oracle/cel/README.md).
func tag(v *exprpb.Value) (any, error) {
	switch k := v.GetKind().(type) {
	case *exprpb.Value_NullValue:
		return tagged{"null": nil}, nil
	case *exprpb.Value_BoolValue:
		return tagged{"bool": k.BoolValue}, nil
	case *exprpb.Value_Int64Value:
		return tagged{"int": strconv.FormatInt(k.Int64Value, 10)}, nil
	case *exprpb.Value_Uint64Value:
		return tagged{"uint": strconv.FormatUint(k.Uint64Value, 10)}, nil
	case *exprpb.Value_DoubleValue:
		return tagged{"double": doubleText(k.DoubleValue)}, nil
	case *exprpb.Value_StringValue:
		return tagged{"string": k.StringValue}, nil
	case *exprpb.Value_BytesValue:
		return tagged{"bytes": base64.StdEncoding.EncodeToString(k.BytesValue)}, nil
	case *exprpb.Value_TypeValue:
		return tagged{"type": k.TypeValue}, nil
	case *exprpb.Value_ListValue:
		return tagList(k.ListValue.Values)
	case *exprpb.Value_MapValue:
		return tagMap(k.MapValue.Entries)
	case *exprpb.Value_ObjectValue:
		return tagMessage(k.ObjectValue)
	}
	return nil, fmt.Errorf("no value for %v", v)
}

func doubleText(x float64) string {
	if math.IsNaN(x) {
		return "NaN"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func tagList(values []*exprpb.Value) (any, error) {
	items := make([]any, len(values))
	for i, v := range values {
		var err error
		if items[i], err = tag(v); err != nil {
			return nil, err
		}
	}
	return tagged{"list": items}, nil
}

func tagMap(entries []*exprpb.MapValue_Entry) (any, error) {
	pairs := make([][2]any, len(entries))
	for i, e := range entries {
		var err error
		if pairs[i][0], err = tag(e.Key); err != nil {
			return nil, err
		}
		if pairs[i][1], err = tag(e.Value); err != nil {
			return nil, err
		}
	}
	sort.Slice(pairs, func(i, j int) bool { return text(pairs[i][0]) < text(pairs[j][0]) })
	return tagged{"map": pairs}, nil
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// tagMessage takes the messages that CEL has values of its own for.
func tagMessage(any *anypb.Any) (any, error) {
	m, err := any.UnmarshalNew()
	if err != nil {
		return nil, err
	}
	switch x := m.(type) {
	case *timestamppb.Timestamp:
		return tagged{"timestamp": x.AsTime().UTC().Format(time.RFC3339Nano)}, nil
	case *durationpb.Duration:
		return tagged{"duration": strconv.FormatInt(int64(x.AsDuration()), 10)}, nil
	case *wrapperspb.BoolValue:
		return tagged{"bool": x.Value}, nil
	case *wrapperspb.BytesValue:
		return tagged{"bytes": base64.StdEncoding.EncodeToString(x.Value)}, nil
	case *wrapperspb.FloatValue:
		return tagged{"double": doubleText(float64(x.Value))}, nil
	case *wrapperspb.Int32Value:
		return tagged{"int": strconv.Itoa(int(x.Value))}, nil
	case *wrapperspb.UInt32Value:
		return tagged{"uint": strconv.FormatUint(uint64(x.Value), 10)}, nil
	case *wrapperspb.UInt64Value:
		return tagged{"uint": strconv.FormatUint(x.Value, 10)}, nil
	case *wrapperspb.Int64Value:
		return tagged{"int": strconv.FormatInt(x.Value, 10)}, nil
	case *wrapperspb.StringValue:
		return tagged{"string": x.Value}, nil
	case *wrapperspb.DoubleValue:
		return tagged{"double": doubleText(x.Value)}, nil
	case *structpb.Value:
		return tagJSON(x.AsInterface()), nil
	case *structpb.Struct:
		return tagJSON(x.AsMap()), nil
	case *structpb.ListValue:
		return tagJSON(x.AsSlice()), nil
	}
	return nil, fmt.Errorf("message %s", proto.MessageName(m))
}

func tagJSON(v any) any {
	switch x := v.(type) {
	case nil:
		return tagged{"null": nil}
	case bool:
		return tagged{"bool": x}
	case float64:
		return tagged{"double": doubleText(x)}
	case string:
		return tagged{"string": x}
	case []any:
		items := make([]any, len(x))
		for i := range x {
			items[i] = tagJSON(x[i])
		}
		return tagged{"list": items}
	}
	pairs := [][2]any{}
	for key, value := range v.(map[string]any) {
		pairs = append(pairs, [2]any{tagged{"string": key}, tagJSON(value)})
	}
	sort.Slice(pairs, func(i, j int) bool { return text(pairs[i][0]) < text(pairs[j][0]) })
	return tagged{"map": pairs}
}

var primitives = map[exprpb.Type_PrimitiveType]string{
	exprpb.Type_BOOL: "bool", exprpb.Type_INT64: "int", exprpb.Type_UINT64: "uint", exprpb.Type_DOUBLE: "double",
	exprpb.Type_STRING: "string", exprpb.Type_BYTES: "bytes",
}

// wellKnown are the messages that CEL has types of its own for.
var wellKnown = map[string]string{
	"google.protobuf.Any": "any", "google.protobuf.Duration": "duration", "google.protobuf.Timestamp": "timestamp",
	"google.protobuf.BoolValue": "wrapper(bool)", "google.protobuf.BytesValue": "wrapper(bytes)",
	"google.protobuf.DoubleValue": "wrapper(double)", "google.protobuf.FloatValue": "wrapper(double)",
	"google.protobuf.Int32Value": "wrapper(int)", "google.protobuf.Int64Value": "wrapper(int)",
	"google.protobuf.UInt32Value": "wrapper(uint)", "google.protobuf.UInt64Value": "wrapper(uint)",
	"google.protobuf.StringValue": "wrapper(string)", "google.protobuf.ListValue": "list(dyn)",
	"google.protobuf.Struct": "map(string, dyn)", "google.protobuf.Value": "dyn",
}

// typeText writes a type as CEL displays it.
func typeText(t *exprpb.Type) (string, error) {
	switch k := t.GetTypeKind().(type) {
	case *exprpb.Type_Dyn:
		return "dyn", nil
	case *exprpb.Type_Null:
		return "null", nil
	case *exprpb.Type_Primitive:
		return primitives[k.Primitive], nil
	case *exprpb.Type_Wrapper:
		return "wrapper(" + primitives[k.Wrapper] + ")", nil
	case *exprpb.Type_WellKnown:
		return map[exprpb.Type_WellKnownType]string{exprpb.Type_ANY: "any", exprpb.Type_TIMESTAMP: "timestamp",
			exprpb.Type_DURATION: "duration"}[k.WellKnown], nil
	case *exprpb.Type_ListType_:
		return parameterized("list", k.ListType.ElemType)
	case *exprpb.Type_MapType_:
		return parameterized("map", k.MapType.KeyType, k.MapType.ValueType)
	case *exprpb.Type_Type:
		return parameterized("type", k.Type)
	case *exprpb.Type_AbstractType_:
		if len(k.AbstractType.ParameterTypes) == 0 {
			return k.AbstractType.Name, nil
		}
		return parameterized(k.AbstractType.Name, k.AbstractType.ParameterTypes...)
	case *exprpb.Type_MessageType:
		if text, ok := wellKnown[k.MessageType]; ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("no type for %v", t)
}

func parameterized(name string, parameters ...*exprpb.Type) (string, error) {
	texts := make([]string, len(parameters))
	for i, p := range parameters {
		var err error
		if texts[i], err = typeText(p); err != nil {
			return "", err
		}
	}
	return name + "(" + strings.Join(texts, ", ") + ")", nil
}
