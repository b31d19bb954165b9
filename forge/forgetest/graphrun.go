package forgetest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
)

// node is an object of the graph. A value is a scalar, a node, a list of
// nodes, nil, or a func(arguments) any that gives one of these.
type node map[string]any

type arguments map[string]any

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

func (a arguments) number(name string) int { n, _ := a[name].(float64); return int(n) }

func (a arguments) object(name string) arguments { o, _ := a[name].(map[string]any); return o }

// texts reads a list of texts, or one text, which stands for a list of it.
func (a arguments) texts(name string) (all []string) {
	if s, isText := a[name].(string); isText {
		return []string{s}
	}
	list, _ := a[name].([]any)
	for _, v := range list {
		if s, isText := v.(string); isText {
			all = append(all, s)
		}
	}
	return all
}

// graphRun answers one operation.
type graphRun struct {
	variables map[string]any
	errors    []object
}

// problem is an error beside the data. Of a value it makes null.
func (g *graphRun) problem(kind, message string) any {
	g.errors = append(g.errors, object{"type": kind, "message": message})
	return nil
}

// pick gives the selected fields of a value.
func (g *graphRun) pick(fields []selection, value any) any {
	switch v := value.(type) {
	case []node:
		list := make([]any, 0, len(v))
		for _, n := range v {
			list = append(list, g.pick(fields, n))
		}
		return list
	case node:
		if v == nil {
			return nil
		}
		out := object{}
		g.fill(out, fields, v)
		return out
	}
	return value
}

func (g *graphRun) fill(out object, fields []selection, n node) {
	for _, f := range fields {
		if f.name == "" {
			if f.on == n["__typename"] {
				g.fill(out, f.sub, n)
			}
			continue
		}
		value, known := n[f.name]
		if !known {
			g.problem("undefinedField", fmt.Sprintf("Field '%s' doesn't exist on type '%v'", f.name, n["__typename"]))
			continue
		}
		if call, isCall := value.(func(arguments) any); isCall {
			args, _ := g.bind(f.args).(map[string]any)
			value = call(args)
		}
		out[f.alias] = g.pick(f.sub, value)
	}
}

// bind puts the variables' values into arguments.
func (g *graphRun) bind(v any) any {
	switch v := v.(type) {
	case variable:
		return g.variables[string(v)]
	case map[string]any:
		bound := map[string]any{}
		for name, value := range v {
			bound[name] = g.bind(value)
		}
		return bound
	case []any:
		bound := slices.Clone(v)
		for i := range bound {
			bound[i] = g.bind(bound[i])
		}
		return bound
	}
	return v
}

// connection is a list in pages.
func connection(of string, all []node) func(arguments) any {
	return func(a arguments) any {
		from := min(position(a.text("after")), len(all))
		size := min(a.number("first"), largestPage)
		if size <= 0 {
			size = largestPage
		}
		to := min(from+size, len(all))
		return node{
			"__typename": of + "Connection", "nodes": append([]node{}, all[from:to]...), "totalCount": len(all),
			"pageInfo": node{
				"__typename": "PageInfo", "hasNextPage": to < len(all), "hasPreviousPage": from > 0,
				"startCursor": cursor(from), "endCursor": cursor(to),
			},
		}
	}
}

// cursor is opaque to clients: how many come before the next page.
func cursor(n int) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:%d", n)) }

func position(cursor string) int {
	data, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil || len(data) < len("cursor:") {
		return 0
	}
	n, _ := strconv.Atoi(string(data[len("cursor:"):]))
	return max(n, 0)
}
