package main

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

var plainTypes = map[string]*cel.Type{
	"bool": cel.BoolType, "bytes": cel.BytesType, "double": cel.DoubleType, "duration": cel.DurationType,
	"dyn": cel.DynType, "any": cel.AnyType, "int": cel.IntType, "null": cel.NullType, "string": cel.StringType,
	"timestamp": cel.TimestampType, "uint": cel.UintType,
	"google.protobuf.Timestamp": cel.TimestampType, "google.protobuf.Duration": cel.DurationType,
	"net.IP": apiservercel.IPType, "net.CIDR": apiservercel.CIDRType,
	"kubernetes.URL": apiservercel.URLType, "kubernetes.Quantity": apiservercel.QuantityType,
	"kubernetes.Semver": apiservercel.SemverType, "kubernetes.NamedFormat": apiservercel.FormatType,
	"kubernetes.authorization.Authorizer":    library.AuthorizerType,
	"kubernetes.authorization.ResourceCheck": library.ResourceCheckType,
}

// parseType reads a type as CEL displays it: list(map(string, dyn)).
func parseType(text string) (*cel.Type, error) {
	t, rest, err := readType(strings.TrimSpace(text))
	if err == nil && rest != "" {
		err = fmt.Errorf("%q follows the type", rest)
	}
	return t, err
}

func readType(text string) (*cel.Type, string, error) {
	end := strings.IndexAny(text, "(), ")
	if end < 0 {
		end = len(text)
	}
	name, rest := text[:end], text[end:]
	if !strings.HasPrefix(rest, "(") {
		if t, ok := plainTypes[name]; ok {
			return t, rest, nil
		}
		return nil, "", fmt.Errorf("unknown type %q", name)
	}
	var parameters []*cel.Type
	for rest = rest[1:]; ; rest = strings.TrimLeft(rest[1:], " ") {
		t, after, err := readType(rest)
		if err != nil {
			return nil, "", err
		}
		parameters, rest = append(parameters, t), after
		if !strings.HasPrefix(rest, ",") {
			break
		}
	}
	if !strings.HasPrefix(rest, ")") {
		return nil, "", fmt.Errorf("missing ) before %q", rest)
	}
	t, err := parameterized(name, parameters)
	return t, rest[1:], err
}

func parameterized(name string, p []*cel.Type) (*cel.Type, error) {
	switch {
	case name == "list" && len(p) == 1:
		return cel.ListType(p[0]), nil
	case name == "map" && len(p) == 2:
		return cel.MapType(p[0], p[1]), nil
	case name == "optional_type" && len(p) == 1:
		return cel.OptionalType(p[0]), nil
	case name == "type" && len(p) == 1:
		return types.NewTypeTypeWithParam(p[0]), nil
	case name == "wrapper" && len(p) == 1:
		return cel.NullableType(p[0]), nil
	}
	return nil, fmt.Errorf("unknown type %s of %d parameters", name, len(p))
}
