package projections

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"agent/eventlog/event"
)

// PlanComment is the purpose of a comment that asks people to approve a plan.
const PlanComment = "plan"

// Proposal is a plan that people were asked about.
type Proposal struct {
	Hash    string `json:"hash"`
	Comment string `json:"comment"` // id of the comment that shows it; "": it could not be written
	Seq     uint64 `json:"seq"`
}

// PlanApproval is what somebody let pass: the plan, and what it means to touch.
type PlanApproval struct {
	Hash  string
	Reach Reach
	Steps map[string]bool // its actions
}

// Reach is what actions mean to touch, each once, in their order.
type Reach struct {
	Files    []string
	Commands []string // and other calls that are neither read-only nor name a file
	Free     bool     // some action names no tool: it may do anything
}

// hashLength is how many hex digits of a plan's hash people see.
const hashLength = 12

// PlanHash stands for the plan as people are asked about it now: what is left to do, and
// how often they were asked. No other context, and no other version, has the same.
func (s *State) PlanHash() string {
	p, h := &s.Planning, sha256.New()
	fmt.Fprintf(h, "%q %d\n", s.Created.UUID, p.Posts+1)
	if p.Plan != nil {
		fmt.Fprintf(h, "%q\n", p.Plan.Goal.Objective)
	}
	for _, a := range p.Actions {
		if a.Status == "" {
			fmt.Fprintf(h, "%q %q\n", a.ID, stepOf(a.Action))
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:hashLength]
}

// stepOf is an action as it was approved. Its id may change.
func stepOf(a event.Action) string {
	return fmt.Sprintf("%q %q %q %q", a.Tool, a.Parameters, a.Purpose, a.Expected)
}

// posted notes that people were asked about the plan, or could not be.
func (p *Planning) posted(open *Open, seq uint64, comment string) {
	if open == nil {
		return
	}
	if in, ok := open.Body.(*event.CommentRequested); ok && in.Purpose == PlanComment {
		p.Posted = Proposal{in.Plan, comment, seq}
		p.Posts++
		p.Approved = nil // of what people were asked about since
	}
}

// approvePlan notes what a person lets pass: the plan that was posted last, if nothing
// changed it since.
func (s *State) approvePlan(seq uint64, b *event.ResumeRequested) {
	p := &s.Planning
	if s.Paused == nil || s.Paused.Reason != event.PausePlan || b.Plan == "" || b.Plan != p.Posted.Hash || p.Seq > p.Posted.Seq {
		return
	}
	p.Approved = &PlanApproval{Hash: b.Plan, Reach: s.Reach(p.Actions), Steps: map[string]bool{}}
	for _, a := range p.Actions {
		p.Approved.Steps[stepOf(a.Action)] = true
	}
}

// Reach tells what actions mean to touch.
func (s *State) Reach(actions []Action) (r Reach) {
	readOnly := s.readOnlyTools()
	for _, a := range actions {
		args := string(a.Parameters)
		files := filesIn(args)
		switch {
		case a.Tool == "":
			r.Free = true
		case readOnly[a.Tool]:
		case isCommand(args):
			r.Commands = addOnce(r.Commands, command(args))
		case len(files) > 0:
			for _, f := range files {
				r.Files = addOnce(r.Files, path.Clean(f))
			}
		default:
			r.Commands = addOnce(r.Commands, strings.TrimSpace(a.Tool+" "+args))
		}
	}
	return r
}

func addOnce(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// ReadOnly reports whether a tool is offered, by its full name, and changes nothing.
func (s *State) ReadOnly(tool string) bool { return s.readOnlyTools()[tool] }

func (s *State) readOnlyTools() map[string]bool {
	names := map[string]bool{}
	if s.Tools == nil {
		return names
	}
	for _, server := range s.Tools.Servers {
		for _, t := range server.Tools {
			names[server.Name+"/"+t.Name] = t.ReadOnly
		}
	}
	return names
}

// fileKeys name a file in the arguments of a tool.
var fileKeys = []string{"path", "file", "file_path", "filename", "paths", "files", "source", "destination", "from", "to", "old_path", "new_path"}

// filesIn are the files that the arguments of a call name.
func filesIn(args string) (files []string) {
	var top map[string]any
	if json.Unmarshal([]byte(args), &top) != nil {
		return nil
	}
	if patch, ok := top["patch"].(string); ok {
		return pathsOfPatch(patch)
	}
	for _, key := range fileKeys {
		list, isList := top[key].([]any)
		if !isList {
			list = []any{top[key]}
		}
		for _, v := range list {
			if name, ok := v.(string); ok && name != "" {
				files = append(files, name)
			}
		}
	}
	return files
}

// Covers reports whether what is approved holds all that the open actions of a plan mean
// to do: the actions themselves, or up to so many others that touch no other file and run
// no other command.
func (s *State) Covers(more int) bool {
	p := &s.Planning
	if p.Approved == nil {
		return false
	}
	var other []Action
	for _, a := range p.Actions {
		switch {
		case p.Approved.Steps[stepOf(a.Action)]:
		case a.Status == "":
			other = append(other, a)
			more--
		default:
			more--
		}
	}
	if len(other) == 0 {
		return true
	}
	r, approved := s.Reach(other), p.Approved.Reach
	return more >= 0 && !r.Free && within(r.Files, approved.Files) && within(r.Commands, approved.Commands)
}

func within(list, of []string) bool {
	return !slices.ContainsFunc(list, func(item string) bool { return !slices.Contains(of, item) })
}

// Names reports whether the approved plan names a file. Tools may take absolute paths.
func (a *PlanApproval) Names(file string) bool {
	return slices.ContainsFunc(a.Reach.Files, func(p string) bool {
		return p == file || path.IsAbs(p) && strings.HasSuffix(p, "/"+file)
	})
}
