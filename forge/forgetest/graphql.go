package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// graphQL answers queries for what the REST API does not tell: who edited an item's text
// last, and when, and which threads of a pull request are resolved: repository { issue |
// pullRequest { body, lastEditedAt, editor { login }, reviewThreads } }. Fields have aliases and arguments, so one query can ask for
// many items. Another field is an error, as one that does not exist.
func (s *Server) graphQL(c *call) reply {
	if c.account == nil {
		return problem(http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
	}
	var in struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	fields, err := parseGraphQL(in.Query)
	if err != nil {
		return ok(object{"errors": []object{{"message": err.Error()}}})
	}
	g := &graphRun{variables: in.Variables}
	answer := object{"data": g.pick(fields, node{"__typename": "Query", "repository": s.repositoryNode(c, g)})}
	if len(g.errors) > 0 {
		answer["errors"] = g.errors
	}
	return ok(answer)
}

// node is an object of the graph. A value is a scalar, a node, nil, or a function
// of the arguments that gives one of these.
type node map[string]any

type arguments map[string]any

func (s *Server) repositoryNode(c *call, g *graphRun) func(arguments) any {
	return func(a arguments) any {
		name := fmt.Sprintf("%v/%v", a["owner"], a["name"])
		r := s.repos[key(name)]
		if r == nil || s.role(r, c.account) < roleRead {
			return g.problem("NOT_FOUND", "Could not resolve to a Repository with the name '"+name+"'.")
		}
		return node{"__typename": "Repository", "issue": g.item(r, "an Issue", false), "pullRequest": g.item(r, "a PullRequest", true)}
	}
}

// graphRun answers one query.
type graphRun struct {
	variables map[string]any
	errors    []object
}

// problem is an error beside the data, whose value is null.
func (g *graphRun) problem(kind, message string) any {
	g.errors = append(g.errors, object{"type": kind, "message": message})
	return nil
}

func (g *graphRun) item(r *repository, kind string, pull bool) func(arguments) any {
	return func(a arguments) any {
		number, _ := a["number"].(float64)
		n := int(number)
		if n < 1 || n > len(r.issues) || (r.issues[n-1].pull != nil) != pull {
			return g.problem("NOT_FOUND", "Could not resolve to "+kind+" with the number of "+strconv.Itoa(n)+".")
		}
		return itemNode(r.issues[n-1])
	}
}

func itemNode(i *issue) node {
	n := node{"__typename": "Issue", "body": i.body, "lastEditedAt": nil, "editor": nil}
	if i.pull != nil {
		n["__typename"] = "PullRequest"
		n["reviewThreads"] = i.pull.threads
	}
	if !i.edited.IsZero() {
		n["lastEditedAt"] = i.edited.UTC().Format(time.RFC3339)
	}
	if i.editor != nil {
		n["editor"] = node{"__typename": "User", "login": i.editor.login}
	}
	return n
}

// threads is a connection: pages of what is asked for, each with a cursor to the next.
func (p *pull) threads(a arguments) any {
	all := []node{}
	for _, m := range p.remarks {
		if m.replyTo == 0 {
			comment := node{"__typename": "PullRequestReviewComment", "databaseId": m.id}
			all = append(all, node{"__typename": "PullRequestReviewThread", "isResolved": m.resolved,
				"comments": func(arguments) any { return connection([]node{comment}, nil, nil) }})
		}
	}
	return connection(all, a["first"], a["after"])
}

func connection(all []node, first, after any) node {
	begin, _ := strconv.Atoi(fmt.Sprint(after)) // 0 if there is none
	end := len(all)
	if n, _ := strconv.Atoi(fmt.Sprint(first)); n > 0 {
		end = min(end, begin+n)
	}
	return node{"__typename": "Connection", "nodes": all[min(begin, end):end],
		"pageInfo": node{"__typename": "PageInfo", "hasNextPage": end < len(all), "endCursor": strconv.Itoa(end)}}
}

// pick gives the selected fields of a value.
func (g *graphRun) pick(fields []selection, value any) any {
	if list, isList := value.([]node); isList {
		out := []any{}
		for _, n := range list {
			out = append(out, g.pick(fields, n))
		}
		return out
	}
	n, isNode := value.(node)
	if !isNode {
		return value
	}
	out := object{}
	for _, f := range fields {
		value, known := n[f.name]
		if !known {
			g.problem("undefinedField", fmt.Sprintf("Field '%s' doesn't exist on type '%v'", f.name, n["__typename"]))
			continue
		}
		if call, isCall := value.(func(arguments) any); isCall {
			value = call(g.bind(f.args))
		}
		out[f.alias] = g.pick(f.sub, value)
	}
	return out
}

// bind puts the variables' values into arguments.
func (g *graphRun) bind(args map[string]any) arguments {
	bound := arguments{}
	for name, value := range args {
		if v, isVariable := value.(variable); isVariable {
			value = g.variables[string(v)]
		}
		bound[name] = value
	}
	return bound
}
