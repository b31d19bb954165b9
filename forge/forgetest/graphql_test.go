package forgetest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/forge/forgetest"
)

// listQuery has the form in which GitHub's own MCP server lists issues.
const listQuery = `query($after:String$direction:OrderDirection!$first:Int!$labels:[String!]!$orderBy:IssueOrderField!$owner:String!$repo:String!$states:[IssueState!]!){` +
	`repository(owner: $owner, name: $repo){issues(first: $first, after: $after, labels: $labels, states: $states, orderBy: {field: $orderBy, direction: $direction}){` +
	`nodes{number,title,body,state,databaseId,author{login},createdAt,updatedAt,labels(first: 100){nodes{name,id,description}},comments{totalCount},issueFieldValues(first: 25){nodes{__typename,... on IssueFieldTextValue{value}}}},` +
	`pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount},isPrivate}}`

func graph(t *testing.T, s *forgetest.Server, query string, variables map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t, "POST", "http://"+s.Host()+"/api/graphql", "secret", string(body), nil)
	if err != nil || got.status != 200 {
		t.Fatalf("%d %s, %v", got.status, got.body, err)
	}
	return got.body
}

func TestGraphQLListsIssues(t *testing.T) {
	s := stage(t)
	for i := range 5 {
		s.AddIssue("o/r", fmt.Sprint("more ", i), "", "", "todo", "other")
	}
	s.AddIssue("o/r", "other label", "", "ann", "other")
	s.AddPullRequest("o/r", "change", "", "ann", "b", "main", "todo")
	s.CloseIssue("o/r", s.AddIssue("o/r", "closed", "", "ann", "todo"))
	variables := map[string]any{"owner": "o", "repo": "r", "first": 4, "labels": []string{"TODO"}, "states": []string{"OPEN"},
		"orderBy": "CREATED_AT", "direction": "ASC", "after": nil}
	var titles []string
	for range 3 {
		var got struct {
			Data struct {
				Repository struct {
					Issues struct {
						Nodes []struct {
							Title, State string
							Author       *struct{ Login string }
							Labels       struct{ Nodes []struct{ Name string } }
						}
						TotalCount int
						PageInfo   struct {
							HasNextPage bool
							EndCursor   string
						}
					}
				}
			}
			Errors []struct{ Message string }
		}
		if err := json.Unmarshal([]byte(graph(t, s, listQuery, variables)), &got); err != nil || len(got.Errors) > 0 {
			t.Fatal(err, got.Errors)
		}
		issues := got.Data.Repository.Issues
		for _, n := range issues.Nodes {
			if n.State != "OPEN" || n.Labels.Nodes[0].Name != "todo" || (n.Author == nil) != (n.Title != "T") {
				t.Errorf("node %+v", n)
			}
			titles = append(titles, n.Title)
		}
		if issues.TotalCount != 6 {
			t.Errorf("total %d", issues.TotalCount)
		}
		if !issues.PageInfo.HasNextPage {
			break
		}
		variables["after"] = issues.PageInfo.EndCursor
	}
	if diff := cmp.Diff([]string{"T", "more 0", "more 1", "more 2", "more 3", "more 4"}, titles); diff != "" {
		t.Error(diff)
	}
}

func TestGraphQLCloses(t *testing.T) {
	s := stage(t)
	var got struct {
		Data struct {
			Repository struct{ Issue struct{ ID string } }
		}
	}
	body := graph(t, s, `query($n:Int!){repository(owner:"o",name:"r"){issue(number:$n){id}}}`, map[string]any{"n": 1})
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	input := map[string]any{"input": map[string]any{"issueId": got.Data.Repository.Issue.ID, "stateReason": "COMPLETED"}}
	body = graph(t, s, `mutation($input:CloseIssueInput!){closeIssue(input:$input){issue{number,state}}}`, input)
	if want := `{"data":{"closeIssue":{"issue":{"number":1,"state":"CLOSED"}}}}`; strings.TrimSpace(body) != want || s.Open("o/r", 1) {
		t.Errorf("%s, want %s", body, want)
	}
	graph(t, s, `mutation M($input:ReopenIssueInput!){reopenIssue(input:$input){issue{state}}}`, input)
	if !s.Open("o/r", 1) {
		t.Error("the issue is still closed")
	}
}

func TestGraphQLReviewThreads(t *testing.T) {
	s := stage(t)
	s.AddPullRequest("o/r", "change", "", "ann", "b", "main")
	first := s.AddReviewComment("o/r", 2, "ann", "why?", forgetest.DiffPlace{Path: "a.go", Line: 3})
	if got, err := send(t, "POST", fmt.Sprintf("%s/repos/o/r/pulls/2/comments/%d/replies", s.URL(), first), "secret", `{"body":"because"}`, nil); err != nil || got.status != 201 {
		t.Fatal(got, err)
	}
	body := graph(t, s, `{repository(owner:"o",name:"r"){pullRequest(number:2){threads:reviewThreads(first:10){totalCount,nodes{isResolved,comments(first:5){nodes{body,line}}}}}}}`, nil)
	want := `{"data":{"repository":{"pullRequest":{"threads":{"nodes":[{"comments":{"nodes":[{"body":"why?","line":3},{"body":"because","line":3}]},"isResolved":false}],"totalCount":1}}}}}`
	if strings.TrimSpace(body) != want {
		t.Errorf("%s, want %s", body, want)
	}
}

func TestGraphQLErrors(t *testing.T) {
	s := stage(t)
	for query, want := range map[string]string{
		`{repository(owner:"o",name:"gone"){id}}`:               "Could not resolve to a Repository",
		`{repository(owner:"o",name:"r"){issue(number:9){id}}}`: "Could not resolve to an Issue",
		`{repository(owner:"o",name:"r"){flavour}}`:             "Field 'flavour' doesn't exist on type 'Repository'",
		`{viewer{login`:        "Parse error",
		`{viewer{"x"}}`:        "Parse error",
		`{a(b:"unterminated)}`: "literal not terminated",
		``:                     "Parse error",
		`query($x:Int`:         "Parse error",
		`{...{a}}`:             "Parse error",
		`mutation{closeIssue(input:{issueId:"x"}){issue{id}}}`: "Could not resolve to a node",
	} {
		if got := graph(t, s, query, nil); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got, err := send(t, "POST", "http://"+s.Host()+"/api/graphql", "", `{"query":"{viewer{login}}"}`, nil); err != nil || got.status != 401 {
		t.Errorf("without a token: %d, %v", got.status, err)
	}
}
