// Command spec converts cel-spec's simple tests to the lines that tests/cel reads, and marks those that
// Kubernetes passes. README.md one folder up has the call.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	testpb "cel.dev/expr/conformance/test"
	// The messages that the tests' values hold.
	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
	"google.golang.org/protobuf/encoding/prototext"
)

// test is one line of the data.
type test struct {
	Test      string         `json:"test"` // FILE/SECTION/NAME
	Expr      string         `json:"expr"`
	Container string         `json:"container,omitempty"`
	NoMacros  bool           `json:"no_macros,omitempty"`
	Variables []variable     `json:"variables,omitempty"`
	Values    map[string]any `json:"values,omitempty"`
	Type      string         `json:"type,omitempty"`  // deduced by the checker
	Value     any            `json:"value,omitempty"` // one of value and error; neither if only the type counts
	Error     string         `json:"error,omitempty"` // of the spec's words, which no implementation repeats
	Unchecked bool           `json:"unchecked,omitempty"`
	Go        any            `json:"go,omitempty"` // the oracle's whole answer, checked as Kubernetes always does

	checkOnly bool
}

type variable struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func main() {
	data := flag.String("data", "", "folder of the .textproto files")
	oracle := flag.String("oracle", "", "the built tests/oracle/cel")
	origin := flag.String("origin", "", "name and version of the source, for the header")
	flag.Parse()
	if err := run(*data, *oracle, *origin); err != nil {
		fmt.Fprintln(os.Stderr, "spec:", err)
		os.Exit(1)
	}
}

func run(data, oracle, origin string) error {
	files, err := filepath.Glob(filepath.Join(data, "*.textproto"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no tests in %q: %v", data, err)
	}
	sort.Strings(files)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	write(out, map[string]any{"origin": origin, "copyright": "The cel-spec Authors (Google LLC)", "license": "Apache-2.0",
		"holds": "the simple tests that Kubernetes 1.36 passes, with the oracle's answers"})
	total, passed := 0, 0
	for _, file := range files {
		tests, all, skipped, err := read(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		passing, err := judge(oracle, tests)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, t := range passing {
			write(out, t)
		}
		total, passed = total+all, passed+len(passing)
		fmt.Fprintf(os.Stderr, "%-18s %4d tests, %4d pass, %d need messages\n",
			strings.TrimSuffix(filepath.Base(file), ".textproto"), all, len(passing), skipped)
	}
	fmt.Fprintf(os.Stderr, "%d tests, %d pass\n", total, passed)
	return nil
}

func write(out io.Writer, value any) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
}

// read answers the tests of a file that need no protobuf message but the well-known ones.
func read(file string) (tests []*test, all, skipped int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, 0, err
	}
	var f testpb.SimpleTestFile
	if err := prototext.Unmarshal(text, &f); err != nil {
		return nil, 0, 0, err
	}
	for _, section := range f.Section {
		for _, t := range section.Test {
			all++
			converted, err := convert(t)
			if err != nil {
				skipped++
				continue
			}
			converted.Test = f.Name + "/" + section.Name + "/" + t.Name
			tests = append(tests, converted)
		}
	}
	return tests, all, skipped, nil
}

func convert(t *testpb.SimpleTest) (*test, error) {
	c := &test{Expr: t.Expr, Container: t.Container, NoMacros: t.DisableMacros, Unchecked: t.DisableCheck, checkOnly: t.CheckOnly}
	for _, d := range t.TypeEnv {
		text, err := typeText(d.GetIdent().GetType())
		if d.GetIdent() == nil || err != nil {
			return nil, fmt.Errorf("declaration of %s: %v", d.Name, err)
		}
		c.Variables = append(c.Variables, variable{d.Name, text})
	}
	for name, v := range t.Bindings {
		value, err := tag(v.GetValue())
		if err != nil {
			return nil, err
		}
		if c.Values == nil {
			c.Values = map[string]any{}
		}
		c.Values[name] = map[string]any{"value": value}
	}
	return c, c.expect(t)
}

func (c *test) expect(t *testpb.SimpleTest) (err error) {
	switch r := t.ResultMatcher.(type) {
	case *testpb.SimpleTest_Value:
		c.Value, err = tag(r.Value)
	case *testpb.SimpleTest_TypedResult:
		if c.Type, err = typeText(r.TypedResult.DeducedType); err == nil && !t.CheckOnly {
			c.Value, err = tag(r.TypedResult.Result)
		}
	case *testpb.SimpleTest_EvalError:
		c.Error = "an error"
		if errors := r.EvalError.Errors; len(errors) > 0 {
			c.Error = errors[0].Message
		}
	case nil:
		c.Value = map[string]any{"bool": true}
	default:
		return fmt.Errorf("%T", r)
	}
	return err
}

// judge asks the oracle and answers the tests it passes, each with the oracle's answer.
func judge(oracle string, tests []*test) ([]*test, error) {
	var questions bytes.Buffer
	for i, t := range tests {
		write(&questions, map[string]any{"declare": map[string]any{"name": "e", "container": t.Container,
			"no_macros": t.NoMacros, "variables": t.Variables}})
		question := map[string]any{"id": i, "env": "e", "expr": t.Expr, "values": t.Values}
		write(&questions, question)
		if t.Unchecked {
			question["unchecked"] = true
			write(&questions, question)
		}
	}
	command := exec.Command(oracle)
	command.Stdin, command.Stderr = &questions, os.Stderr
	answers, err := command.Output()
	if err != nil {
		return nil, err
	}
	var passing []*test
	lines := bufio.NewScanner(bytes.NewReader(answers))
	lines.Buffer(nil, 16<<20)
	next := func() (a map[string]any, err error) {
		if !lines.Scan() {
			return nil, fmt.Errorf("the oracle ended early: %v", lines.Err())
		}
		err = json.Unmarshal(lines.Bytes(), &a)
		delete(a, "id")
		return a, err
	}
	for _, t := range tests {
		a, err := next()
		t.Go = a
		if err == nil && t.Unchecked {
			a, err = next()
		}
		if err != nil {
			return nil, err
		}
		if t.passes(a) {
			passing = append(passing, t)
		}
	}
	return passing, nil
}

func (c *test) passes(a map[string]any) bool {
	if c.Unchecked && a["issues"] != nil {
		return false
	}
	if c.Error != "" {
		return a["error"] != nil || a["program_error"] != nil || a["issues"] != nil
	}
	if c.Type != "" && a["type"] != c.Type {
		return false
	}
	return c.checkOnly || same(c.Value, a["value"])
}

// same compares through JSON, so that both sides are made of the same types.
func same(want, got any) bool {
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	return bytes.Equal(a, b)
}
