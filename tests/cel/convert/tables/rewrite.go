package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rewrite changes a file's tests; it answers the tests that print tables.
func rewrite(file string, s *source) ([]string, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		return nil, err
	}
	var tests []string
	changed := false
	for _, declaration := range parsed.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Recv != nil {
			continue
		}
		if variable, ok := s.tables[f.Name.Name]; ok {
			if err := printTable(f, variable); err != nil {
				return nil, err
			}
			tests, changed = append(tests, f.Name.Name), true
		}
		if contains(s.helpers, f.Name.Name) {
			printCall(f)
			changed = true
		}
	}
	if !changed {
		return nil, nil
	}
	var b bytes.Buffer
	if err := format.Node(&b, files, parsed); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return nil, err
	}
	name := filepath.Join(filepath.Dir(file), "zz_dump_"+parsed.Name.Name+"_test.go")
	return tests, os.WriteFile(name, []byte(strings.Replace(helper, "package PACKAGE", "package "+parsed.Name.Name, 1)), 0o644)
}

// printTable puts the printing before the loop over the table, and a return before the loop's body runs.
func printTable(f *ast.FuncDecl, variable string) error {
	for i, statement := range f.Body.List {
		loop, ok := statement.(*ast.RangeStmt)
		if !ok {
			continue
		}
		table := ast.Expr(ast.NewIdent(variable))
		var before []ast.Stmt
		if variable == "" {
			table = ast.NewIdent("celTable")
			before = append(before, &ast.AssignStmt{Lhs: []ast.Expr{table}, Tok: token.DEFINE, Rhs: []ast.Expr{loop.X}})
			loop.X = table
		} else if x, ok := loop.X.(*ast.Ident); !ok || x.Name != variable {
			continue
		}
		before = append(before, call("dumpTable", quoted(f.Name.Name), table), returnIfTrue())
		f.Body.List = append(f.Body.List[:i:i], append(before, f.Body.List[i:]...)...)
		return nil
	}
	return fmt.Errorf("%s has no loop over %q", f.Name.Name, variable)
}

// printCall puts the printing of the arguments before the body; the testing.T gives the row its test's name.
func printCall(f *ast.FuncDecl) {
	names := &ast.CompositeLit{Type: &ast.ArrayType{Elt: ast.NewIdent("string")}}
	arguments := []ast.Expr{}
	for _, parameter := range f.Type.Params.List {
		for _, name := range parameter.Names {
			if name.Name != "t" {
				names.Elts = append(names.Elts, quoted(name.Name))
				arguments = append(arguments, ast.NewIdent(name.Name))
			}
		}
	}
	test := &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent("t"), Sel: ast.NewIdent("Name")}}
	print := call("dumpCall", append([]ast.Expr{test, names}, arguments...)...)
	f.Body.List = append([]ast.Stmt{print, returnIfTrue()}, f.Body.List...)
}

func call(name string, arguments ...ast.Expr) ast.Stmt {
	return &ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent(name), Args: arguments}}
}

func quoted(text string) ast.Expr {
	return &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(text)}
}

// returnIfTrue keeps what follows reachable to the compiler, so that no import falls out of use.
func returnIfTrue() ast.Stmt {
	return &ast.IfStmt{Cond: ast.NewIdent("true"), Body: &ast.BlockStmt{List: []ast.Stmt{&ast.ReturnStmt{}}}}
}
