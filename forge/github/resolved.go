package github

import (
	"context"

	"agent/forge"
)

const threadsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
	repository(owner: $owner, name: $name) { item: pullRequest(number: $number) {
		reviewThreads(first: 100, after: $after) {
			pageInfo { hasNextPage endCursor } nodes { isResolved comments(first: 1) { nodes { databaseId } } }
		}
	} }
}`

type threads struct {
	List struct {
		Page struct {
			More bool   `json:"hasNextPage"`
			End  string `json:"endCursor"`
		} `json:"pageInfo"`
		Nodes []struct {
			Resolved bool `json:"isResolved"`
			Comments struct {
				Nodes []struct {
					ID int64 `json:"databaseId"`
				} `json:"nodes"`
			} `json:"comments"`
		} `json:"nodes"`
	} `json:"reviewThreads"`
}

// mostThreads bounds the pages of threads of one pull request.
const mostThreads = 50

// resolved are the ids of the comments that begin a resolved thread. Only GraphQL tells;
// a token or a server that has no GraphQL leaves it open.
func (t thread) resolved(ctx context.Context) (map[int64]bool, error) {
	found := map[int64]bool{}
	variables := map[string]any{"owner": t.owner, "name": t.repo, "number": t.number, "after": nil}
	for range mostThreads {
		answer, err := graph[threads](t.c, ctx, t.op, threadsQuery, variables)
		if k := kind(err); k == forge.NotFound || k == forge.Forbidden || k == forge.Invalid {
			return found, nil
		}
		if err != nil || answer == nil {
			return found, err
		}
		for _, n := range answer.List.Nodes {
			for _, c := range n.Comments.Nodes {
				found[c.ID] = found[c.ID] || n.Resolved
			}
		}
		if !answer.List.Page.More || answer.List.Page.End == "" {
			break
		}
		variables["after"] = answer.List.Page.End
	}
	return found, nil
}
