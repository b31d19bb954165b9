package handlers

import (
	"strings"
	"time"
	"unicode"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/handlers/tell"
	"agent/internal/lazyregexp"
	"agent/projections"
)

// After an attempt the task may wait for its author's answer (seeds/001): each answer
// is another round in the same context, until the author says thanks, nobody
// answers in time, or the rounds are used up.

// doneReason says what a finished reply leads to.
func doneReason(s *projections.State) event.EndReason {
	f := s.Config.FollowUp
	switch {
	case !f.Enabled, s.Simulates(): // nobody answers it
		return event.EndDone
	case rounds(s) >= f.MaxRounds:
		return event.EndMaxRounds
	}
	return event.EndAwaiting
}

// rounds counts the answers that were worked on. The go before the first wait is none.
func rounds(s *projections.State) int {
	if s.Await == nil {
		return 0
	}
	return s.Await.Rounds + 1
}

func awaiting(s *projections.State) *event.ContextAwaiting {
	wait := time.Duration(s.Config.FollowUp.TimeoutHours) * time.Hour
	return &event.ContextAwaiting{Rounds: rounds(s), Until: event.Until{Kind: "comment", Time: s.Now.Add(wait)}}
}

// failedRound is true for a failure in a round that answers the author. It does not
// fail what was completed before.
func failedRound(s *projections.State, v *projections.Ending) bool {
	return v.Status == projections.Failed && s.Await != nil && s.Config.FollowUp.Enabled &&
		(s.Status != projections.Running || v.Since > s.Since)
}

// finishRound says that the round failed, keeps its work, and waits for the next
// answer, if there may be one.
func finishRound(s *projections.State, v *projections.Ending) Effect {
	if s.Status != projections.Running {
		return idle(s)
	}
	if e := publish(s, v); e != nil {
		return e
	}
	last := rounds(s) >= s.Config.FollowUp.MaxRounds
	over := completes(event.EndMaxRounds, "", v.Since)
	switch {
	case !s.Done(projections.CommentRound, v.Since):
		if e := lastProgress(s, tell.FinalStatus(s, v), v.Since); e != nil {
			return e
		}
		return Act{Intent: tell.RoundFailed(s, v, last)}
	case !last && !s.Done(projections.LabelsAwaiting, v.Since):
		return Act{Intent: awaitLabels(s)}
	case !last:
		return Record{awaiting(s)}
	case !s.Done(projections.LabelsCompleted, v.Since):
		return Act{Intent: finalLabels(s, over)}
	case !s.Done(projections.SummaryStep(event.FinalSummary), v.Since):
		return Record{prompt.FinalSummary(s, over)}
	}
	return Record{&event.ContextCompleted{Reason: over.Reason, Partial: true}}
}

// waitAgain goes back to waiting if what ended the wait turned out to be nothing new.
func waitAgain(s *projections.State) Effect {
	if s.Wait == nil || !s.Waited || s.ResumedBy != "comment" || s.Work.Reply != nil || len(s.Comments.Pending) > 0 || s.Steps[projections.MessageStep(event.CommentsMessage)] > s.Since {
		return nil
	}
	if !s.Done(projections.LabelsAwaiting, s.Since) {
		return Act{Intent: awaitLabels(s)}
	}
	return Record{&event.ContextAwaiting{Reason: s.Wait.Reason, Rounds: s.Wait.Rounds, Until: s.Wait.Until}}
}

// closedByAuthor reports whether the author's new comments say nothing but that all is well.
func closedByAuthor(s *projections.State) bool {
	if s.Await == nil || !s.Config.FollowUp.Enabled || s.Status != projections.Running || s.Comments.Partial || len(s.Comments.Pending) == 0 {
		return false
	}
	thanked := false
	for _, c := range s.Comments.Pending {
		switch thanks, words := isThanks(c.Body.View(), s.Config.FollowUp.Keywords, s.Config.Bot); {
		case thanks:
			thanked = true
		case words:
			return false
		}
	}
	return thanked
}

// defaultPhrases end a conversation. A list in the configuration replaces them.
const defaultPhrases = `ありがとう
ありがとうございます
ありがとうございました
どうもありがとうございます
どうもありがとうございました
助かりました
完了
ok
オーケー
了解
承知
問題ありません
問題なし
thank you
thank you very much
thank you so much
many thanks
thanks
thanks a lot
thx
done
complete
completed
great
perfect
looks good
looks good to me
lgtm`

// politeness may follow a phrase.
var politeness = []string{"でございます", "いたしました", "致しました", "しました", "です", "ですね", "でした", "だ", "よ", "ね"}

// isThanks reports whether every sentence of a comment is a completion phrase, and
// whether it has words at all. A phrase inside a longer sentence, a negated one, a
// question, thanks to somebody else than the agent, or anything with code is not.
func isThanks(comment, phrases, bot string) (thanks, words bool) {
	if strings.TrimSpace(phrases) == "" {
		phrases = defaultPhrases
	}
	known := map[string]bool{}
	for _, p := range strings.Split(phrases, "\n") {
		known[normalPhrase(p)] = true
	}
	said, text := 0, unquoted(comment)
	if strings.ContainsAny(text, "?？`") || strings.Contains(text, "~~~") || toAnother(text, bot) {
		return false, true
	}
	text = mentions.ReplaceAllString(text, " ") // of the agent
	for _, sentence := range strings.FieldsFunc(text, isSentenceEnd) {
		sentence = normalPhrase(sentence)
		if sentence == "" {
			continue // emoji or punctuation
		}
		if !known[sentence] && !known[impolite(sentence)] {
			return false, true
		}
		said++
	}
	return said > 0, said > 0
}

var mentions = lazyregexp.New(`(?:^|[^\w/])@([\w-]+(?:\[bot\])?)`)

// toAnother reports whether a text names somebody else than the agent.
func toAnother(text, bot string) bool {
	for _, m := range mentions.FindAllStringSubmatch(text, -1) {
		if !strings.EqualFold(strings.TrimSuffix(m[1], "[bot]"), strings.TrimSuffix(bot, "[bot]")) {
			return true
		}
	}
	return false
}

// unquoted drops quoted lines and indented code, which is text all the same: a mark of
// code takes its place.
func unquoted(comment string) string {
	var kept []string
	for line := range strings.SplitSeq(comment, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), ">"):
		case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
			if strings.TrimSpace(line) != "" {
				kept = append(kept, "`")
			}
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func isSentenceEnd(r rune) bool { return strings.ContainsRune("。．.!！\n、,，;；", r) }

// normalPhrase keeps letters, digits and single spaces, in lower case.
func normalPhrase(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == 'ー':
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func impolite(sentence string) string {
	for _, p := range politeness {
		if short, ok := strings.CutSuffix(sentence, p); ok {
			return strings.TrimSpace(short)
		}
	}
	return sentence
}
