package handlers

import (
	"strings"

	"agent/eventlog/event"
	"agent/handlers/reply"
	"agent/projections"
)

// Before work is published the model is asked, once, about new files that commands
// made and no edit named. It answers with tools or with words. A file that it does
// not answer about is kept.

// newFiles are those to ask about now.
func newFiles(s *projections.State) (paths []string) {
	p := s.Publishing
	if p.Measured == nil || s.Done(projections.MessageStep(event.NewFilesMessage), s.Steps[projections.StepChange]) || exceeded(s) != nil {
		return nil
	}
	task := s.TaskPaths()
	for _, f := range p.Measured.Files {
		if f.New && !s.Named(f.Path) && !p.Asked[f.Path] && !task[strings.ToLower(f.Path)] {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// askedFiles is true from the question about new files until people say something
// new.
func askedFiles(s *projections.State) bool {
	return s.Done(projections.MessageStep(event.NewFilesMessage), max(s.Steps[projections.MessageStep(event.CommentsMessage)], s.Steps[projections.MessageStep(event.EditedMessage)]))
}

// givesUp ends work whose replies cannot be used. Work that was done before the
// question about its files stays done.
func givesUp(s *projections.State, since uint64) *projections.Ending {
	if askedFiles(s) {
		return completes(doneReason(s), s.Publishing.Words, since)
	}
	return fails(event.EndUnusableReplies, "", since)
}

// withWords puts the answer to that question below the closing words that stood
// before it.
func withWords(s *projections.State, answer string) string {
	before := s.Publishing.Words
	switch {
	case !askedFiles(s), before == "", strings.Contains(answer, before):
		return answer
	case strings.TrimSpace(answer) == "":
		return before
	}
	return before + "\n\n" + answer
}

// filesOpen is true while a model that works by a plan, and has done all of it,
// has not answered the question about new files.
func filesOpen(s *projections.State) bool {
	w := s.Work
	switch {
	case !askedFiles(s) || s.Steps[projections.MessageStep(event.NewFilesMessage)] < s.Planning.Seq || w.Corrections >= maxCorrections:
		return false
	case w.Reply == nil:
		return true
	}
	p := reply.Parse(s)
	return len(p.Calls) > 0 || p.Problem != "" && w.Corrections < maxCorrections-1
}

// planSince is the event that the end of a plan counts from.
func planSince(s *projections.State) uint64 {
	if asked := s.Steps[projections.MessageStep(event.NewFilesMessage)]; asked > s.Planning.Seq {
		return max(asked, s.Work.ReplySeq)
	}
	return s.Planning.Seq
}

// planSaid are the closing words of a plan.
func planSaid(s *projections.State) string {
	if s.Steps[projections.MessageStep(event.NewFilesMessage)] < s.Planning.Seq || s.Work.Reply == nil {
		return s.Planning.Words
	}
	return withWords(s, reply.Parse(s).Comment)
}
