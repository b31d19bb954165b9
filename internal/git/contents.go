package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// groupSize is how many bytes of contents are read by one command, or one content.
const groupSize = outputLimit / 4

// Contents gives the files of these names of objects to each, in order. What is
// no file, as a submodule or nothing, and a file of more than largest bytes, is left out.
func (r *Repo) Contents(ctx context.Context, names []string, largest int64, each func(name, content string)) error {
	out, err := r.run(ctx, command{name: "cat-file", args: []string{"--batch-check=%(objectname) %(objecttype) %(objectsize)"}, input: lines(names)})
	if err != nil {
		return err
	}
	var group []string
	room := int64(groupSize)
	for line := range strings.SplitSeq(out, "\n") {
		field := strings.Fields(line)
		if len(field) != 3 || field[1] != "blob" {
			continue
		}
		size, err := strconv.ParseInt(field[2], 10, 64)
		if err != nil || size > min(largest, outputLimit/2) {
			continue
		}
		if room -= size; room < 0 && len(group) > 0 {
			if err := r.group(ctx, group, each); err != nil {
				return err
			}
			group, room = nil, groupSize-size
		}
		group = append(group, field[0])
	}
	return r.group(ctx, group, each)
}

func lines(names []string) string { return strings.Join(names, "\n") + "\n" }

// group reads some contents at once.
func (r *Repo) group(ctx context.Context, names []string, each func(name, content string)) error {
	if len(names) == 0 {
		return nil
	}
	out, err := r.run(ctx, command{name: "cat-file", args: []string{"--batch"}, input: lines(names)})
	if err != nil {
		return err
	}
	for out != "" {
		head, rest, _ := strings.Cut(out, "\n")
		field := strings.Fields(head)
		if len(field) != 3 {
			return fmt.Errorf("git cat-file: %q is not a line of it", head)
		}
		size, err := strconv.Atoi(field[2])
		if err != nil || size < 0 || size >= len(rest) {
			return fmt.Errorf("git cat-file: %q is not a line of it", head)
		}
		each(field[0], rest[:size])
		out = rest[size+1:]
	}
	return nil
}
