// Package openapi checks what goes to and from forgetest against GitHub's
// official description of its REST API. For tests only: the program itself
// does not need the libraries that this takes.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"agent/forge/forgetest"
)

// Description is a loaded description.
type Description struct{ router routers.Router }

// Load reads the description's file.
func Load(path string) (*Description, error) {
	document, err := openapi3.NewLoader().LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	document.Servers = nil
	router, err := legacy.NewRouter(document, openapi3.DisableExamplesValidation())
	if err != nil {
		return nil, err
	}
	return &Description{router}, nil
}

// undescribed are calls that the file, which is cut, leaves out.
func undescribed(path string) bool {
	return path == "/" || path == "/app" || strings.HasSuffix(path, "/graphql") || strings.HasPrefix(path, "/app/") || strings.HasPrefix(path, "/users/")
}

// Request says what is wrong with a request, or nil.
func (d *Description) Request(e forgetest.Exchange) error {
	in, err := d.input(e)
	if err != nil || in == nil {
		return err
	}
	return named(e, openapi3filter.ValidateRequest(context.Background(), in))
}

// Response says what is wrong with an answer, or nil. The description leaves
// out many refusals: those must have the form that all have.
func (d *Description) Response(e forgetest.Exchange) error {
	in, err := d.input(e)
	refused := e.Status >= http.StatusBadRequest && e.Status <= http.StatusNotFound
	if refused && (err != nil || in == nil || in.Route.Operation.Responses.Status(e.Status) == nil) {
		return named(e, refusal(e.Answer))
	}
	if err != nil || in == nil {
		return err
	}
	return named(e, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in,
		Status:                 e.Status,
		Header:                 http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body:                   io.NopCloser(bytes.NewReader(e.Answer)),
		Options:                in.Options,
	}))
}

func refusal(answer []byte) error {
	var said struct {
		Message string `json:"message"`
		Page    string `json:"documentation_url"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return err
	}
	if said.Message == "" || said.Page == "" {
		return errors.New("a refusal without message or documentation_url")
	}
	return nil
}

// input finds the operation; nil is one that the file leaves out.
func (d *Description) input(e forgetest.Exchange) (*openapi3filter.RequestValidationInput, error) {
	if undescribed(e.Request.URL.Path) {
		return nil, nil
	}
	r := e.Request.Clone(context.Background())
	// Escaped, so that a slash in a name does not end the path's element.
	r.URL = &url.URL{Path: e.Request.URL.EscapedPath(), RawQuery: e.Request.URL.RawQuery}
	r.Body = io.NopCloser(bytes.NewReader(e.Body))
	route, values, err := d.router.FindRoute(r)
	if err != nil {
		return nil, named(e, err)
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true,
	}
	options.WithCustomSchemaErrorFunc(func(e *openapi3.SchemaError) string { // without the schema, which is long
		return fmt.Sprintf("/%s: %s", strings.Join(e.JSONPointer(), "/"), e.Reason)
	})
	return &openapi3filter.RequestValidationInput{Request: r, PathParams: values, Route: route, Options: options}, nil
}

func named(e forgetest.Exchange, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s, status %d: %w", e.Request.Method, e.Request.URL, e.Status, err)
}
