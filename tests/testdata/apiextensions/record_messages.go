//go:build ignore

// Writes what Kubernetes' codecs make of CustomResourceDefinitions: go run record_messages.go IN OUT
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

type line struct {
	Name   string          `json:"name"`
	In     json.RawMessage `json:"in"`
	Out    json.RawMessage `json:"out"`
	Proto  string          `json:"proto"`
	Stored json.RawMessage `json:"stored"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	info := func(media string) runtime.Serializer {
		found, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
		return found.Serializer
	}
	in := bufio.NewScanner(must(os.Open(os.Args[1])))
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(must(os.Create(os.Args[2])))
	out.SetEscapeHTML(false)
	for in.Scan() {
		var one line
		if err := json.Unmarshal(in.Bytes(), &one); err != nil {
			panic(err)
		}
		// As a server decodes a body: into v1, with its defaults, then into the internal type.
		object, _, err := codecs.DecoderToVersion(info("application/json"), apiextensions.SchemeGroupVersion).Decode(one.In, nil, nil)
		if err != nil {
			panic(one.Name + ": " + err.Error())
		}
		encode := func(media string, version runtime.GroupVersioner) []byte {
			return must(runtime.Encode(codecs.EncoderForVersion(info(media), version), object))
		}
		one.Out = encode("application/json", v1.SchemeGroupVersion)
		one.Stored = encode("application/json", v1beta1.SchemeGroupVersion)
		one.Proto = base64.StdEncoding.EncodeToString(encode("application/vnd.kubernetes.protobuf", v1.SchemeGroupVersion))
		if err := out.Encode(one); err != nil {
			panic(err)
		}
	}
}
