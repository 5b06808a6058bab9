module libapiserver/cel/convert

go 1.26.0

require (
	cel.dev/expr v0.25.3
	google.golang.org/protobuf v1.36.11
)
