// Command tables takes the tables of Kubernetes' own CEL tests as data: it copies a module out of the module
// cache, rewrites the chosen tests so that they print their tables, runs them, and writes what they printed.
// README.md one folder up has the call.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

//go:embed dump.go.txt
var helper string

// source is a package with tests to print: tables by the test's name, and helpers whose calls are the rows.
type source struct {
	module  string
	folder  string
	tables  map[string]string // test → the variable that holds its table; "" if the loop has it
	helpers []string
}

const (
	apiserver     = "k8s.io/apiserver"
	apiextensions = "k8s.io/apiextensions-apiserver"
)

var sources = []source{
	{apiextensions, "pkg/apiserver/schema/cel", map[string]string{
		"TestCelCostStability": "cases", "TestCelEstimatedCostStability": "cases", "TestValidationExpressions": "tests",
		"TestValidationExpressionsAtSchemaLevels": "tests", "TestCelCompilation": "cases", "TestCostEstimation": "cases",
		"TestMessageExpression": "tests", "TestReasonAndFldPath": "tests", "TestValidateFieldPath": "tests",
		"TestRatcheting": "cases", "TestOptionalOldSelf": "tests", "TestOptionalOldSelfCheckForNull": "tests",
		"TestOptionalOldSelfIsOptionalType": "cases",
	}, nil},
	{apiserver, "pkg/cel", map[string]string{"TestEscaping": "cases"}, nil},
	{apiserver, "pkg/cel/library", nil, []string{"testCost", "testIP", "testCIDR", "testQuantity", "testSemver"}},
	{apiserver, "pkg/cel/common", map[string]string{"TestToValue": "tests", "TestCorrelation": "cases"}, nil},
	{apiserver, "pkg/cel/mutation", map[string]string{"TestTypeResolver": "", "TestCELOptional": ""}, nil},
	{apiserver, "pkg/admission/plugin/cel", map[string]string{"TestCompile": "cases", "TestCondition": "cases",
		"TestRuntimeCELCostBudget": "cases", "TestCompositedPolicies": "cases",
		"TestCompileValidatingPolicyExpression": "cases"}, nil},
	{apiserver, "pkg/admission/plugin/policy/validating", map[string]string{"TestValidate": "cases",
		"TestExtractTypeNames": "", "TestTypeCheck": ""}, nil},
	{apiserver, "pkg/admission/plugin/policy/matching", map[string]string{"TestMatcher": "testcases"}, nil},
	{apiserver, "pkg/admission/plugin/policy/mutating/patch", map[string]string{"TestJSONPatch": "tests",
		"TestApplyConfiguration": "tests"}, nil},
	{apiserver, "pkg/admission/plugin/webhook/matchconditions", map[string]string{"TestMatch": "cases"}, nil},
	{apiserver, "pkg/authorization/cel", map[string]string{"TestCompileCELExpression": "cases"}, nil},
	{apiserver, "pkg/authentication/cel", map[string]string{"TestCompileClaimsExpression": "testCases",
		"TestCompileUserExpression": "testCases", "TestCompileClaimsExpressionError": "testCases",
		"TestCompileUserExpressionError": "testCases"}, nil},
	{apiserver, "pkg/apis/apiserver/validation", map[string]string{"TestValidateClaimValidationRules": "testCases",
		"TestValidateClaimMappings": "testCases", "TestValidateUserValidationRules": "testCases",
		"TestValidateAndCompileMatchConditions": "testCases"}, nil},
}

func main() {
	version := flag.String("version", "v0.36.0", "of the modules")
	out := flag.String("out", "", "folder for the raw tables, a file per package")
	only := flag.String("only", "", "a regular expression on the packages' folders")
	flag.Parse()
	if err := run(*version, *out, regexp.MustCompile(*only)); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func run(version, out string, only *regexp.Regexp) error {
	work, err := os.MkdirTemp("", "cel-tables-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	copied := map[string]string{}
	for _, s := range sources {
		if !only.MatchString(s.folder) {
			continue
		}
		if copied[s.module] == "" {
			if copied[s.module], err = copyModule(s.module, version, work); err != nil {
				return err
			}
		}
		name := strings.ReplaceAll(strings.TrimPrefix(s.folder, "pkg/"), "/", "_") + ".jsonl"
		target, err := filepath.Abs(filepath.Join(out, name))
		if err != nil {
			return err
		}
		os.Remove(target)
		if err := dump(s, copied[s.module], target); err != nil {
			return fmt.Errorf("%s: %w", s.folder, err)
		}
	}
	return nil
}

// copyModule downloads a module and copies it to where it may be changed.
func copyModule(module, version, work string) (string, error) {
	download := exec.Command("go", "mod", "download", module+"@"+version)
	download.Stderr = os.Stderr
	if err := download.Run(); err != nil {
		return "", err
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return "", err
	}
	from := filepath.Join(strings.TrimSpace(string(cache)), module+"@"+version)
	to := filepath.Join(work, filepath.Base(module))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return "", err
	}
	return to, exec.Command("chmod", "-R", "u+w", to).Run()
}

// dump rewrites the package's tests and runs those that print.
func dump(s source, module, target string) error {
	folder := filepath.Join(module, s.folder)
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	var tests []string
	for _, file := range files {
		found, err := rewrite(file, &s)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		tests = append(tests, found...)
	}
	for table := range s.tables {
		if !contains(tests, table) {
			return fmt.Errorf("no test %s", table)
		}
	}
	sort.Strings(tests)
	if len(s.helpers) > 0 {
		tests = []string{"Test.*"}
	}
	command := exec.Command("go", "test", "-mod=mod", "-count=1", "-run", "^("+strings.Join(tests, "|")+")$", "./"+s.folder)
	command.Dir = module
	command.Env = append(os.Environ(), "CEL_DUMP="+target, "GOFLAGS=", "GOWORK=off")
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
