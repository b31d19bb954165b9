package viamcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agent/forge"
)

// object is one item of an answer. Numbers are json.Number: ids may be large.
type object map[string]any

// lists are the names under which servers wrap a list.
var lists = []string{"items", "issues", "pull_requests", "merge_requests", "comments", "reviews", "discussions", "notes", "nodes", "data",
	"review_threads", "reviewThreads", "threads"}

// parse finds the list in the text of a result, and the cursor of the next page.
func parse(text string) (items []object, next string, err error) {
	var answer any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&answer); err != nil {
		return nil, "", fmt.Errorf("the tool's result is not JSON")
	}
	if list, ok := answer.([]any); ok {
		return objects(list), "", nil
	}
	wrapped, _ := answer.(map[string]any)
	for _, name := range lists {
		if list, ok := wrapped[name].([]any); ok {
			return objects(list), nextCursor(wrapped), nil
		}
	}
	return nil, "", fmt.Errorf("the tool's result holds no list")
}

func nextCursor(wrapped map[string]any) string {
	for _, name := range []string{"pageInfo", "page_info", "pagination"} {
		info := object(asMap(wrapped[name]))
		more, _ := info["hasNextPage"].(bool)
		snake, _ := info["has_next_page"].(bool)
		if more || snake {
			return info.text("endCursor", "end_cursor", "nextPage", "next_page")
		}
	}
	return ""
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func objects(list []any) []object {
	out := make([]object, 0, len(list))
	for _, v := range list {
		if m := asMap(v); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// text gives the first of the named fields that is a text or a number.
func (o object) text(names ...string) string {
	for _, name := range names {
		switch v := o[name].(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
	}
	return ""
}

func (o object) id() string { return o.text("id", "databaseId", "number", "iid") }

func (o object) number(names ...string) int {
	n, _ := strconv.Atoi(o.text(names...))
	return n
}

func (o object) time(names ...string) time.Time {
	t, err := time.Parse(time.RFC3339, o.text(names...))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// list gives a nested list, also one that is wrapped in {"nodes": […]}.
func (o object) list(name string) []object {
	switch v := o[name].(type) {
	case []any:
		return objects(v)
	case map[string]any:
		nodes, _ := v["nodes"].([]any)
		return objects(nodes)
	}
	return nil
}

func (o object) account() forge.Account {
	for _, name := range []string{"user", "author"} {
		if text, ok := o[name].(string); ok {
			return forge.Account{Login: text, Bot: strings.HasSuffix(text, "[bot]")}
		}
		if u := object(asMap(o[name])); len(u) > 0 {
			login := u.text("login", "username")
			bot := u.text("type", "__typename") == "Bot" || u["bot"] == true || strings.HasSuffix(login, "[bot]")
			return forge.Account{ID: u.text("id"), Login: login, Bot: bot}
		}
	}
	return forge.Account{Login: "ghost"}
}

func (o object) labels() []string {
	var names []string
	list, _ := o["labels"].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok {
			names = append(names, s)
		} else if m := object(asMap(v)); m != nil {
			names = append(names, m.text("name", "title"))
		}
	}
	if len(list) == 0 {
		for _, m := range o.list("labels") {
			names = append(names, m.text("name"))
		}
	}
	return names
}
