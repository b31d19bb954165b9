package forgetest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"path"
	"slices"
	"strings"
)

// branches are the default branch, those made by calls, and those of open merge requests.
func (p *project) branches() []string {
	all := append([]string{p.options.DefaultBranch}, p.more...)
	for _, i := range p.merges {
		if i.state == "opened" && i.merge.sourceProject == p.id && !slices.Contains(all, i.merge.source) {
			all = append(all, i.merge.source)
		}
	}
	return all
}

func (g *GitLab) listBranches(c *call, p *project) reply {
	var shapes []object
	for _, name := range p.branches() {
		if strings.Contains(name, c.URL.Query().Get("search")) {
			shapes = append(shapes, c.branchShape(p, name))
		}
	}
	return numbered(c, shapes)
}

func (g *GitLab) getBranch(c *call, p *project) reply {
	if name := c.PathValue("branch"); slices.Contains(p.branches(), name) {
		return ok(c.branchShape(p, name))
	}
	return gitlabProblem(http.StatusNotFound, "404 Branch Not Found")
}

func (g *GitLab) createBranch(c *call, p *project) reply {
	if !g.may(c, p, Developer) {
		return gitlabForbidden()
	}
	var in struct{ Branch, Ref string }
	if refusal, good := c.decode(&in); !good {
		return refusal
	}
	switch {
	case in.Branch == "" || in.Ref == "":
		return missing("branch, ref")
	case slices.Contains(p.branches(), in.Branch):
		return gitlabProblem(http.StatusBadRequest, "Branch already exists")
	case !slices.Contains(p.branches(), in.Ref):
		return gitlabProblem(http.StatusBadRequest, "Invalid reference name: "+in.Ref)
	}
	p.more = append(p.more, in.Branch)
	return created(c.branchShape(p, in.Branch))
}

// listTree shows the same files on every branch: the server holds no history.
func (g *GitLab) listTree(c *call, p *project) reply {
	q := c.URL.Query()
	root := strings.Trim(q.Get("path"), "/")
	kinds := map[string]string{}
	for name := range p.options.Files {
		kinds[name] = "blob"
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			kinds[dir] = "tree"
		}
	}
	var shapes []object
	for name, kind := range kinds {
		parent := path.Dir(name)
		if parent == "." {
			parent = ""
		}
		if parent != root && (q.Get("recursive") != "true" || root != "" && !strings.HasPrefix(name, root+"/")) {
			continue
		}
		mode := map[string]string{"tree": "040000", "blob": "100644"}[kind]
		shapes = append(shapes, object{"id": commitOf(name), "name": path.Base(name), "type": kind, "path": name, "mode": mode})
	}
	if len(shapes) == 0 {
		return gitlabProblem(http.StatusNotFound, "404 Tree Not Found")
	}
	slices.SortFunc(shapes, func(a, b object) int { return strings.Compare(a["path"].(string), b["path"].(string)) })
	if q.Get("pagination") == "keyset" {
		return keyset(c, shapes, "id")
	}
	return numbered(c, shapes)
}

func (g *GitLab) getFile(c *call, p *project) reply {
	name := c.PathValue("path")
	content, known := p.options.Files[name]
	if !known {
		return gitlabProblem(http.StatusNotFound, "404 File Not Found")
	}
	ref := c.URL.Query().Get("ref")
	if ref == "" || ref == "HEAD" {
		ref = p.options.DefaultBranch
	}
	sum := sha256.Sum256([]byte(content))
	return ok(object{
		"file_name": path.Base(name), "file_path": name, "size": len(content), "encoding": "base64",
		"content": base64.StdEncoding.EncodeToString([]byte(content)), "content_sha256": hex.EncodeToString(sum[:]),
		"ref": ref, "blob_id": commitOf(name), "commit_id": commitOf(ref), "last_commit_id": commitOf(ref),
		"execute_filemode": false,
	})
}

func (c *call) branchShape(p *project, name string) object {
	page := c.web + "/" + p.path + "/-/"
	return object{
		"name": name, "merged": false, "protected": name == p.options.DefaultBranch, "default": name == p.options.DefaultBranch,
		"developers_can_push": false, "developers_can_merge": false, "can_push": true, "web_url": page + "tree/" + name,
		"commit": object{
			"id": commitOf(name), "short_id": commitOf(name)[:8], "title": "Commit of " + name, "message": "Commit of " + name,
			"created_at": instant(p.made), "parent_ids": []string{}, "author_name": "A", "author_email": "a@example.com",
			"authored_date": instant(p.made), "committer_name": "A", "committer_email": "a@example.com",
			"committed_date": instant(p.made), "trailers": object{}, "web_url": page + "commit/" + commitOf(name),
		},
	}
}
