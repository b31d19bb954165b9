package workspace

import (
	"context"
	"strings"

	"agent/internal/git"
)

// kindOf says what makes a file more than a text that people can look at.
func (w *Copy) kindOf(c git.FileChange, secret map[string]bool) string {
	_, named := w.c.Redact.String(c.Path)
	switch {
	case secret[c.Blob] || named:
		return "secret"
	case c.Submodule:
		return "submodule"
	case c.Size > largestFile:
		return "large"
	case c.Link:
		return "link"
	case c.Binary:
		return "binary"
	}
	return ""
}

// secrets names the contents that add lines with what looks like a secret. Lines
// that the file had before are known to whoever can read the repository.
func (w *Copy) secrets(ctx context.Context, repo *git.Repo, changes []git.FileChange) (map[string]bool, error) {
	var names []string
	for _, c := range changes {
		names = append(names, c.Blob)
	}
	suspects := map[string]string{}
	err := repo.Contents(ctx, names, largestFile, func(name, content string) {
		if _, found := w.c.Redact.String(content); found {
			suspects[name] = content
		}
	})
	if err != nil || len(suspects) == 0 {
		return nil, err
	}
	secret := map[string]bool{}
	for _, c := range changes {
		content, suspect := suspects[c.Blob]
		if !suspect || secret[c.Blob] {
			continue
		}
		added := true
		err := repo.Contents(ctx, []string{c.Before}, largestFile, func(_, before string) {
			_, added = w.c.Redact.String(addedLines(before, content))
		})
		if err != nil {
			return nil, err
		}
		secret[c.Blob] = added
	}
	return secret, nil
}

// addedLines are the lines of a text that are not in an older one.
func addedLines(before, after string) string {
	known := map[string]bool{}
	for line := range strings.SplitSeq(before, "\n") {
		known[line] = true
	}
	var added []string
	for line := range strings.SplitSeq(after, "\n") {
		if !known[line] {
			added = append(added, line)
		}
	}
	return strings.Join(added, "\n")
}

// fit lets a commit in between be published if it holds, beside what the last one
// holds, only other versions of the same text files: people look at the last one.
func (w *Copy) fit(repo *git.Repo, spec git.CommitSpec) func(context.Context, string) (bool, error) {
	last := map[string]git.FileChange{}
	return func(ctx context.Context, tree string) (bool, error) {
		if len(last) == 0 {
			changes, err := repo.Compare(ctx, spec.Base, spec.Tree)
			if err != nil {
				return false, err
			}
			for _, c := range changes {
				last[c.Path] = c
			}
		}
		changes, err := repo.Compare(ctx, spec.Base, tree)
		if err != nil {
			return false, err
		}
		secret, err := w.secrets(ctx, repo, changes)
		if err != nil {
			return false, err
		}
		for _, c := range changes {
			same, there := last[c.Path]
			if !there || c.Blob != same.Blob && w.kindOf(c, secret) != "" {
				return false, nil
			}
		}
		return true, nil
	}
}
