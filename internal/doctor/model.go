package doctor

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/llm"
)

// checkModel asks the server what it has, and the model whether it calls tools.
func (d *doctor) checkModel() {
	active := d.Config.LLM.Active()
	driver := active.Driver
	section := "llm." + driver.Name
	for _, key := range []string{driver.URLKey, "model", "api_key"} {
		d.checkReplaced("model", section+"."+key)
	}
	checker, ok := d.Model.(llm.Checker)
	if !ok {
		d.note("model", Warning, d.text("doctor.model.unchecked", driver.Title), "")
		d.checkCalls(driver, nil)
		return
	}
	ctx, cancel := d.within(time.Minute)
	info, err := checker.Check(ctx)
	cancel()
	if err != nil {
		d.noteModel(driver, active, info, err)
		return
	}
	d.ok("model", "doctor.model", driver.Title, active.Model, active.URL)
	d.checkWindow(active, info.Context)
	d.checkCalls(driver, info.Tools)
}

// noteModel says what is wrong with a server or its model.
func (d *doctor) noteModel(driver llm.Driver, active config.Provider, info llm.Info, err error) {
	hint := func(id, general string, args ...any) string {
		return d.text(i18n.ID(cmp.Or(id, general)), args...)
	}
	switch {
	case !info.Reachable:
		d.note("model", Failed, d.text("doctor.model.unreachable", active.URL, err), hint(driver.Hints.Unreachable, "doctor.todo.model.other"))
	case !info.ModelPresent && len(info.Models) > 0:
		d.note("model", Failed, d.text("doctor.model.absent", active.Model, shorten(info.Models)), hint(driver.Hints.Absent, "doctor.todo.absent.other", active.Model))
	case statusOf(err) == http.StatusNotFound && len(info.Models) == 0:
		d.note("model", Failed, d.text("doctor.model.notfound", strings.TrimRight(active.URL, "/")+driver.Path), hint(driver.Hints.NotFound, "doctor.todo.notfound.other", driver.URLPath()))
	default:
		d.note("model", Failed, err.Error(), d.todoModel(driver, err))
	}
}

// todoModel is what to do about an answer of a model server.
func (d *doctor) todoModel(driver llm.Driver, err error) string {
	var failed *llm.Error
	if errors.As(err, &failed) {
		if id := i18n.ID("doctor.todo.model." + failed.Kind); i18n.Has(id) {
			return d.text(id)
		}
	}
	return d.text(i18n.ID(cmp.Or(driver.Hints.Unreachable, "doctor.todo.model.other")))
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
	const check = "context window"
	switch {
	case window == 0:
		d.note(check, Warning, d.text("doctor.window.unknown", active.ContextLength), d.text("doctor.todo.window.unknown"))
	case window < active.ContextLength:
		d.note(check, Failed, d.text("doctor.window.small", window, active.ContextLength), d.text("doctor.todo.window", active.Name, window))
	default:
		d.ok(check, "doctor.window", window, active.ContextLength)
	}
}

const toolCalls = "tool calls"

// checkCalls finds out whether the model can call tools, and whether a conversation
// goes on after that; supported is what the server says, nil if nothing. Without tool
// calls the JSON protocol works, unless the configuration excludes it.
func (d *doctor) checkCalls(driver llm.Driver, supported *bool) {
	calls := d.Config.LLM.Protocol != "json"
	switch {
	case !calls:
		d.ok(toolCalls, "doctor.calls.json")
	case supported != nil && !*supported:
		d.noCalls(d.text("doctor.calls.no"))
		calls = false
	}
	if d.NoModelCall {
		if calls {
			d.note(toolCalls, Warning, d.text("doctor.calls.untried"), "")
		}
		return
	}
	d.play(driver, calls)
}

// play begins the conversation, with tools or without.
func (d *doctor) play(driver llm.Driver, calls bool) {
	active := d.Config.LLM.Active()
	profile := d.Config.Profile(active)
	p := newDialogue(d.Model, llm.Request{Model: active.Model, ContextLength: active.ContextLength, Profile: profile}, calls)
	ctx, cancel := d.within(time.Duration(d.Config.LLM.TimeoutSeconds) * time.Second)
	defer cancel()
	start := time.Now()
	reply, err := p.first(ctx)
	var failed *llm.Error
	switch {
	case calls && errors.As(err, &failed) && failed.Kind == llm.ToolsRefused:
		d.noCalls(failed.Error())
		if d.Config.LLM.Protocol == "auto" {
			d.play(driver, false)
		}
		return
	case err != nil:
		d.note(toolCalls, Failed, err.Error(), d.todoModel(driver, err))
		return
	case calls && len(reply.Calls) == 0:
		d.noCalls(d.text("doctor.calls.words"))
	case calls:
		d.ok(toolCalls, "doctor.calls", reply.Calls[0].Name, time.Since(start).Round(time.Millisecond))
	}
	d.converse(p, reply, start, profile)
}

func (d *doctor) noCalls(text string) {
	result := Warning
	if d.Config.LLM.Protocol == "tools" {
		result = Failed
	}
	d.note(toolCalls, result, text, d.text("doctor.todo.calls"))
}
