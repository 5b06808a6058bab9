// Command cel answers what Kubernetes 1.36 makes of CEL expressions: it compiles and evaluates each in
// the environment of k8s.io/apiserver and prints what Go found. README.md describes the lines it reads
// and writes.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

// line is one line of input: the declaration of an environment, of inputs, or a question.
type line struct {
	Declare     *declaration     `json:"declare"`
	Inputs      json.RawMessage  `json:"inputs"`
	Values      map[string]input `json:"values"`
	ID          json.RawMessage  `json:"id"`
	Env         string           `json:"env"`
	Expr        string           `json:"expr"`
	Limit       *uint64          `json:"limit"`
	CompileOnly bool             `json:"compile_only"`
	Unchecked   bool             `json:"unchecked"`
	Policies    *policies        `json:"policies"`
}

type oracle struct {
	environments map[string]*environmentUnderTest
	inputs       map[string]map[string]input
}

// maxLine bounds a line: the largest rows of the tables carry objects of some hundred kilobytes.
const maxLine = 16 << 20

func main() {
	bench := flag.Duration("bench", 0, "CPU time of each figure: times the expressions (compile and evaluation) instead of answering")
	flag.Parse()
	o := &oracle{environments: map[string]*environmentUnderTest{}, inputs: map[string]map[string]input{}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxLine)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for n := 1; in.Scan(); n++ {
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		answer, err := o.take(text, *bench)
		if err != nil {
			out.Flush()
			fail(fmt.Errorf("line %d: %w", n, err))
		}
		if answer == nil {
			continue
		}
		encoded, err := marshal(answer)
		if err != nil {
			fail(fmt.Errorf("line %d: %w", n, err))
		}
		out.Write(encoded)
		out.Flush() // an asker may wait for each answer
	}
	if err := in.Err(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(1)
}

// marshal writes one line of JSON without escaping <, > and &.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return b.Bytes(), err
}

// take reads one line; it answers nil for a declaration. bench > 0: the time that a figure may take.
func (o *oracle) take(text []byte, bench time.Duration) (any, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Declare != nil {
		env, err := newEnvironment(l.Declare)
		if err != nil {
			return nil, fmt.Errorf("environment %q: %w", l.Declare.Name, err)
		}
		o.environments[l.Declare.Name] = env
		return nil, nil
	}
	if l.Policies != nil {
		return l.Policies.bench(l.ID, max(bench, time.Millisecond))
	}
	name, values, err := o.inputsOf(&l)
	if err != nil {
		return nil, err
	}
	if l.Env == "" {
		o.inputs[name] = values
		return nil, nil
	}
	env, ok := o.environments[l.Env]
	if !ok {
		return nil, fmt.Errorf("unknown environment %q", l.Env)
	}
	if bench > 0 {
		return env.bench(&l, values, bench)
	}
	return env.answer(&l, values)
}

// inputsOf finds the inputs of a line: named ones ("inputs": "a"), or its own ("values": {...}).
func (o *oracle) inputsOf(l *line) (string, map[string]input, error) {
	var name string
	if len(l.Inputs) > 0 {
		if err := json.Unmarshal(l.Inputs, &name); err != nil {
			return "", nil, err
		}
	}
	if l.Values != nil || name == "" {
		return name, l.Values, nil
	}
	values, ok := o.inputs[name]
	if !ok {
		return "", nil, fmt.Errorf("unknown inputs %q", name)
	}
	return name, values, nil
}
