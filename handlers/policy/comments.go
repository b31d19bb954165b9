package policy

import (
	"slices"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// Comment is what decides whether a comment is input.
type Comment struct {
	Author   forge.Account
	System   bool // the forge wrote it
	Internal bool // only members of the project see it
	Posted   bool // the log says that this context wrote it
	Marked   bool // it carries the marker of an agent, which anybody can copy
	Genuine  bool // the marker was made for this task with our key
	Known    bool // the log has an earlier text of it
	Commands []Command
	Alone    bool // it says nothing but commands

	Self     *Account // nil if it was not asked
	MayWrite *bool    // nil if it was not asked
}

// Account says whether the author's account is the agent's own.
type Account struct {
	Ours    bool
	Unknown bool // the forge did not say who the agent is
}

// Classify says what a comment is, in the words of event.Comment: system, own,
// internal, bot, approval, command, untrusted, new, edited. Only new and edited ones are input.
func Classify(s *projections.State, c Comment) (class event.CommentClass, need Need) {
	switch {
	case c.System:
		return event.SystemComment, Nothing
	case c.Posted:
		return event.OwnComment, Nothing
	case c.Marked && c.Self == nil:
		return "", Self
	case c.Marked && (c.Self.Ours || c.Genuine && c.Self.Unknown):
		return event.OwnComment, Nothing
	case c.Internal && !s.Task.Private && !s.Task.Confidential:
		return event.InternalComment, Nothing // the answer would show its words to everybody
	case c.Author.Bot && s.Config.Comments.ExcludeBots:
		return event.BotComment, Nothing
	case c.Alone && !Asks(c.Commands, CommandRevise): // the words of that one are for the model
		return classOf(c.Commands), Nothing
	}
	accepted, need := accepts(s, c)
	switch {
	case need != Nothing:
		return "", need
	case !accepted:
		return event.UntrustedComment, Nothing
	case c.Known:
		return event.EditedComment, Nothing
	}
	return event.NewComment, Nothing
}

// classOf is what a comment is that says nothing but commands.
func classOf(commands []Command) event.CommentClass {
	if slices.ContainsFunc(commands, func(c Command) bool { return c.Name != CommandApprove }) {
		return event.CommandComment
	}
	return event.ApprovalComment
}

// accepts says whether an account's comments are input. It fails closed.
func accepts(s *projections.State, c Comment) (bool, Need) {
	rule, author := s.Config.Comments.Accept, IsAuthor(s, c.Author)
	switch {
	case s.Await != nil && s.Config.FollowUp.Enabled:
		return author, Nothing // a follow-up is a talk with the author alone
	case rule == "any", rule == "auto" && s.Task.Private, rule != "trusted" && author:
		return true, Nothing
	case rule == "author":
		return false, Nothing
	case c.MayWrite == nil:
		return false, Permission
	}
	return *c.MayWrite, Nothing
}

// IsAuthor reports whether an account is the task's author. All accounts that
// were deleted share one name, which is nobody's.
func IsAuthor(s *projections.State, a forge.Account) bool {
	return s.Task != nil && a.Login == s.Task.Author && a.Login != "" && a.Login != "ghost"
}

// Newest keeps the text of the newest most comments that are input, and calls the rest older.
func Newest(comments []event.Comment, most int) {
	for i := range slices.Backward(comments) {
		c := &comments[i]
		switch {
		case c.Verdict != event.NewComment && c.Verdict != event.EditedComment:
		case most > 0:
			most--
		default:
			c.Verdict, c.Body = event.OlderComment, event.Text{}
		}
	}
}
