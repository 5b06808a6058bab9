// Command auth answers what Kubernetes 1.36 makes of expressions in the configuration of authentication
// and authorization. README.md describes the lines it reads and writes.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	jose "gopkg.in/go-jose/go-jose.v2"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

// question is one line of input: a token of an issuer, or a request that a webhook may be asked about.
type question struct {
	// The parts of a JWTAuthenticator beside its issuer; encoding/json matches names in any case.
	JWT    *apiserver.JWTAuthenticator `json:"jwt"`
	Claims json.RawMessage             `json:"claims"`

	Conditions []string                                 `json:"conditions"`
	Spec       *authorizationv1.SubjectAccessReviewSpec `json:"spec"`
}

// answer is one line of output.
type answer struct {
	Invalid string              `json:"invalid,omitempty"`
	Error   string              `json:"error,omitempty"`
	Match   *bool               `json:"match,omitempty"`
	User    string              `json:"user,omitempty"`
	UID     string              `json:"uid,omitempty"`
	Groups  []string            `json:"groups,omitempty"`
	Extra   map[string][]string `json:"extra,omitempty"`
}

// unsigned is a key set for which every signature is valid.
type unsigned struct{}

func (unsigned) VerifySignature(_ context.Context, token string) ([]byte, error) {
	parsed, err := jose.ParseSigned(token)
	if err != nil {
		return nil, err
	}
	return parsed.UnsafePayloadWithoutVerification(), nil
}

func encode(part []byte) string { return base64.RawURLEncoding.EncodeToString(part) }

func (q *question) authenticate() answer {
	q.JWT.Issuer = apiserver.Issuer{URL: "https://auth.example.com", Audiences: []string{"my-client"}}
	// One authenticator of a configuration, so that the paths of errors are those of its file.
	config := &apiserver.AuthenticationConfiguration{JWT: []apiserver.JWTAuthenticator{*q.JWT}}
	compiler := authenticationcel.NewDefaultCompiler()
	if err := validation.ValidateAuthenticationConfiguration(compiler, config, nil).ToAggregate(); err != nil {
		return answer{Invalid: err.Error()}
	}
	made, err := oidc.New(context.Background(), oidc.Options{JWTAuthenticator: *q.JWT, KeySet: unsigned{}})
	if err != nil {
		return answer{Invalid: err.Error()}
	}
	token := encode([]byte(`{"alg":"RS256"}`)) + "." + encode(q.Claims) + "." + encode([]byte("signature"))
	response, ok, err := made.AuthenticateToken(context.Background(), token)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if !ok {
		return answer{Error: "another issuer's"}
	}
	user := response.User
	return answer{User: user.GetName(), UID: user.GetUID(), Groups: user.GetGroups(), Extra: user.GetExtra()}
}

func (q *question) match() answer {
	var conditions []apiserver.WebhookMatchCondition
	for _, expression := range q.Conditions {
		conditions = append(conditions, apiserver.WebhookMatchCondition{Expression: expression})
	}
	matcher, errs := validation.ValidateAndCompileMatchConditions(authorizationcel.NewDefaultCompiler(), conditions)
	if err := errs.ToAggregate(); err != nil {
		return answer{Invalid: err.Error()}
	}
	match, err := matcher.Eval(context.Background(), &authorizationv1.SubjectAccessReview{Spec: *q.Spec})
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Match: &match}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(1)
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		// A line that an earlier run answered is asked anew.
		var earlier struct{ Ask json.RawMessage }
		if err := json.Unmarshal(text, &earlier); err == nil && earlier.Ask != nil {
			text = earlier.Ask
		}
		var q question
		if err := json.Unmarshal(text, &q); err != nil {
			fail(err)
		}
		if q.JWT == nil && q.Spec == nil {
			fmt.Println(string(text)) // the file's header
			continue
		}
		var found answer
		if q.JWT != nil {
			found = q.authenticate()
		} else {
			found = q.match()
		}
		if err := out.Encode(map[string]any{"ask": json.RawMessage(text), "go": found}); err != nil {
			fail(err)
		}
	}
}
