package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type groupVersionResource = schema.GroupVersionResource

// answer is what Go made of one expression. A member is absent if it did not come to that.
type answer struct {
	ID           json.RawMessage `json:"id,omitempty"`
	Issues       string          `json:"issues,omitempty"`        // the compiler's errors, as displayed
	Type         string          `json:"type,omitempty"`          // of the checked expression
	Estimate     []string        `json:"estimate,omitempty"`      // lowest and highest cost, as decimals of 64 bits
	ProgramError string          `json:"program_error,omitempty"` // of making the program: bad constants
	Value        any             `json:"value,omitempty"`
	Error        string          `json:"error,omitempty"` // of the evaluation
	Panic        string          `json:"panic,omitempty"` // Go's bug: nothing else is known
	Cost         *uint64         `json:"cost,omitempty"`
}

func (e *environmentUnderTest) compile(l *line, a *answer) (cel.Program, error) {
	var ast *cel.Ast
	var issues *cel.Issues
	if l.Unchecked {
		ast, issues = e.env.Parse(l.Expr)
	} else {
		ast, issues = e.env.Compile(l.Expr)
	}
	if issues.Err() != nil {
		a.Issues = issues.String()
		return nil, nil
	}
	if !l.Unchecked {
		a.Type = ast.OutputType().String()
		estimate, err := e.env.EstimateCost(ast, e.estimator)
		if err != nil {
			return nil, fmt.Errorf("estimate of %s: %w", l.Expr, err)
		}
		a.Estimate = []string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	}
	program, err := e.env.Program(ast, e.programOptions(l)...)
	if err != nil {
		a.ProgramError = err.Error()
		return nil, nil
	}
	return program, nil
}

func (e *environmentUnderTest) answer(l *line, values map[string]input) (a *answer, err error) {
	a = &answer{ID: l.ID}
	defer func() {
		if r := recover(); r != nil {
			a, err = &answer{ID: l.ID, Panic: fmt.Sprint(r)}, nil
		}
	}()
	program, err := e.compile(l, a)
	if err != nil || program == nil || l.CompileOnly {
		return a, err
	}
	bound, err := e.bind(values)
	if err != nil {
		return nil, err
	}
	out, details, err := program.ContextEval(context.Background(), bound)
	if details != nil {
		a.Cost = details.ActualCost()
	}
	if err != nil {
		a.Error = err.Error()
		return a, nil
	}
	if types.IsUnknown(out) {
		a.Error = "unknown"
		return a, nil
	}
	a.Value = encode(out)
	return a, nil
}

func (e *environmentUnderTest) bind(values map[string]input) (map[string]any, error) {
	bound := make(map[string]any, len(values))
	for name, in := range values {
		value, err := in.resolve(e.schemas[name], e.optional[name])
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", name, err)
		}
		bound[name] = value
	}
	return bound, nil
}

// timing is a line of the benchmark mode. Compile is parse, check and program, without the estimate.
type timing struct {
	ID             json.RawMessage `json:"id,omitempty"`
	Expr           string          `json:"expr"`
	CompileNs      int64           `json:"compile_ns"`
	CompileAllocs  int64           `json:"compile_allocs"`
	EvaluateNs     int64           `json:"evaluate_ns"`
	EvaluateAllocs int64           `json:"evaluate_allocs"`
}

func (e *environmentUnderTest) bench(l *line, values map[string]input, wanted time.Duration) (*timing, error) {
	a := &answer{}
	program, err := e.compile(l, a)
	if err != nil {
		return nil, err
	}
	if program == nil {
		return nil, fmt.Errorf("%s does not compile: %s%s", l.Expr, a.Issues, a.ProgramError)
	}
	bound, err := e.bind(values)
	if err != nil {
		return nil, err
	}
	t := &timing{ID: l.ID, Expr: l.Expr}
	t.CompileNs, t.CompileAllocs = timed(wanted, func() {
		ast, _ := e.env.Compile(l.Expr)
		e.env.Program(ast, e.programOptions(l)...)
	})
	ctx := context.Background()
	t.EvaluateNs, t.EvaluateAllocs = timed(wanted, func() { program.ContextEval(ctx, bound) })
	return t, nil
}
