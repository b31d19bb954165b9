package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/llm"
	"agent/mcp"
)

// checkServer starts one tool server by itself and lists its tools.
func (d *doctor) checkServer(m config.MCPServer, workspace string) {
	check := "mcp " + m.Name
	ctx, cancel := d.within(time.Minute)
	defer cancel()
	pool := mcp.NewPool(app.ServerConfigs([]config.MCPServer{m}), mcp.Options{Version: version()})
	defer pool.Close()
	session := pool.Session(workspace)
	defer session.Close()
	start := time.Now()
	for _, s := range session.List(ctx) {
		var names []string
		for _, t := range s.Tools {
			names = append(names, t.Name)
		}
		switch {
		case s.Err != "":
			d.note(check, bad, s.Err, d.text("doctor.todo.server", m.Name))
		case len(names) == 0:
			d.note(check, warning, d.text("doctor.notools"), d.text("doctor.todo.allow"))
		default:
			d.ok(check, "doctor.tools", len(names), time.Since(start).Round(time.Millisecond), shorten(names))
		}
		d.checkAllowed(check, m, names)
	}
}

// checkAllowed finds names in `allow` that the server does not have.
func (d *doctor) checkAllowed(check string, m config.MCPServer, names []string) {
	for _, name := range m.Allow {
		if len(names) > 0 && !slices.Contains(names, name) {
			d.note(check, warning, d.text("doctor.notallowed", name), d.text("doctor.todo.allow"))
		}
	}
}

// checkModel asks the server what it has, and the model whether it calls tools.
func (d *doctor) checkModel() {
	active := d.App.Config.LLM.Active()
	d.checkReplaced("model", "llm."+active.Name+"."+urlKey(active.Name))
	d.checkReplaced("model", "llm."+active.Name+".model")
	d.checkReplaced("model", "llm."+active.Name+".api_key")
	ctx, cancel := d.within(time.Minute)
	info, err := d.describeModel(ctx)
	cancel()
	switch {
	case err != nil && !info.Reachable:
		d.note("model", bad, d.text("doctor.model.unreachable", active.URL, err), d.text(todoOf(active.Name)))
		return
	case err != nil && !info.ModelPresent && len(info.Models) > 0:
		d.note("model", bad, d.text("doctor.model.absent", active.Model, shorten(info.Models)), d.text(todoAbsent(active.Name), active.Model))
		return
	case statusOf(err) == http.StatusNotFound && len(info.Models) == 0:
		d.note("model", bad, d.text("doctor.model.notfound", triedURL(active)), d.todoNotFound(active.Name))
		return
	case err != nil:
		d.note("model", bad, err.Error(), d.text(todoOf(active.Name)))
		return
	}
	d.ok("model", "doctor.model", active.Name, active.Model, active.URL)
	d.checkWindow(active, info.Context)
	d.checkCalls(info.Tools)
}

func urlKey(provider string) string {
	if provider == "ollama" {
		return "endpoint"
	}
	return "base_url"
}

// triedURL is what a check asks first.
func triedURL(p config.Provider) string {
	if p.Name == "ollama" {
		return strings.TrimRight(p.URL, "/") + "/api/tags"
	}
	return strings.TrimRight(p.URL, "/") + "/models"
}

func (d *doctor) todoNotFound(provider string) string {
	return d.text(known("doctor.todo.notfound.", provider), "llm."+provider+"."+urlKey(provider))
}

// statusOf is the HTTP status that a model server answered with, 0 if none.
func statusOf(err error) int {
	var failed *llm.Error
	if errors.As(err, &failed) {
		return failed.Status
	}
	return 0
}

func (d *doctor) checkWindow(active config.Provider, window int) {
	switch {
	case window == 0:
		d.note("window", warning, d.text("doctor.window.unknown", active.ContextLength), d.text("doctor.todo.window.unknown"))
	case window < active.ContextLength:
		d.note("window", bad, d.text("doctor.window.small", window, active.ContextLength), d.text("doctor.todo.window", active.Name, window))
	default:
		d.ok("window", "doctor.window", window, active.ContextLength)
	}
}

// checkCalls finds out whether tools can be used. Without them the JSON protocol
// works, unless it is ruled out.
func (d *doctor) checkCalls(said *bool) {
	protocol := d.App.Config.LLM.Protocol
	switch {
	case protocol == "json":
		d.ok("tool calls", "doctor.calls.json")
		return
	case said != nil && !*said:
		d.noCalls(d.text("doctor.calls.no"))
		return
	case d.noCall:
		d.note("tool calls", warning, d.text("doctor.calls.untried"), "")
		return
	}
	ctx, cancel := d.within(time.Duration(d.App.Config.LLM.TimeoutSeconds) * time.Second)
	defer cancel()
	start := time.Now()
	reply, err := d.Model.Complete(ctx, d.tryCall())
	var failed *llm.Error
	switch {
	case errors.As(err, &failed) && failed.Kind == llm.ToolsRefused:
		d.noCalls(failed.Error())
	case err != nil:
		d.note("tool calls", bad, err.Error(), d.text(todoOf(d.App.Config.LLM.Provider)))
	case len(reply.Calls) == 0:
		d.noCalls(d.text("doctor.calls.words"))
	default:
		d.ok("tool calls", "doctor.calls", reply.Calls[0].Name, time.Since(start).Round(time.Millisecond))
	}
}

func (d *doctor) noCalls(text string) {
	result := warning
	if d.App.Config.LLM.Protocol == "tools" {
		result = bad
	}
	d.note("tool calls", result, text, d.text("doctor.todo.calls"))
}

// tryCall is the shortest request that a model can answer by a call.
func (d *doctor) tryCall() llm.Request {
	active := d.App.Config.LLM.Active()
	return llm.Request{Model: active.Model, ContextLength: active.ContextLength,
		Messages: []llm.Message{{Role: llm.User, Content: "Call the tool ping once. Say nothing else."}},
		Tools: []llm.Tool{{Name: "ping", Description: "Answers pong.",
			Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)}}}
}

// describeModel asks the provider; one that cannot tell is asked for its list of models.
func (d *doctor) describeModel(ctx context.Context) (llm.Info, error) {
	if p, ok := d.Model.(llm.Checker); ok {
		return p.Check(ctx)
	}
	return listModels(ctx, d.App.Config.LLM.Active())
}

// listModels reads /models of the chat-completions API.
func listModels(ctx context.Context, p config.Provider) (llm.Info, error) {
	got, err := newRest(config.Forge{APIURL: p.URL, Token: p.APIKey}).get(ctx, "/models")
	if err != nil {
		return llm.Info{}, err
	}
	info := llm.Info{Reachable: true}
	if got.status != 200 {
		return info, fmt.Errorf("the list of models was answered with HTTP %d", got.status)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(got.body, &list); err != nil {
		return info, errors.New("the list of models is not JSON")
	}
	for _, m := range list.Data {
		info.Models = append(info.Models, m.ID)
	}
	info.ModelPresent = slices.Contains(info.Models, p.Model)
	if !info.ModelPresent {
		return info, fmt.Errorf("the server has no model %s", p.Model)
	}
	return info, nil
}

func todoOf(provider string) i18n.ID { return known("doctor.todo.model.", provider) }

func todoAbsent(provider string) i18n.ID { return known("doctor.todo.absent.", provider) }
