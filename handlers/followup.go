package handlers

import (
	"strings"
	"time"
	"unicode"

	"agent/eventlog/event"
	"agent/projections"
)

// After an attempt the task may wait for its author's answer (seeds/001): each answer
// is another round in the same context, until the author says thanks, nobody
// answers in time, or the rounds are used up.

// doneReason says what a finished reply leads to.
func doneReason(s *projections.State) string {
	f := s.Config.FollowUp
	switch {
	case !f.Enabled:
		return "done"
	case rounds(s) >= f.MaxRounds:
		return "max_rounds"
	}
	return "await"
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

// waitAgain goes back to waiting if what ended the wait turned out to be nothing new.
func waitAgain(s *projections.State) Effect {
	if s.Wait == nil || s.ResumedBy != "comment" || s.Work.Reply != nil || len(s.Comments.Pending) > 0 || s.Steps["message:comments"] > s.Since {
		return nil
	}
	if !s.Done("labels:awaiting", s.Since) {
		return Act{Intent: awaitLabels(s)}
	}
	return Record{&event.ContextAwaiting{Reason: s.Wait.Reason, Rounds: s.Wait.Rounds, Until: s.Wait.Until}}
}

// closedByAuthor reports whether the author's new comments say nothing but that all is well.
func closedByAuthor(s *projections.State) bool {
	if s.Await == nil || !s.Config.FollowUp.Enabled || s.Status != projections.Running || s.Comments.Partial || len(s.Comments.Pending) == 0 {
		return false
	}
	for _, c := range s.Comments.Pending {
		if !isThanks(c.Body.View(), s.Config.FollowUp.Keywords) {
			return false
		}
	}
	return true
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

// isThanks reports whether every sentence of a comment is a completion phrase.
// A phrase inside a longer sentence, a negated one, or a question is not.
func isThanks(comment, phrases string) bool {
	if strings.TrimSpace(phrases) == "" {
		phrases = defaultPhrases
	}
	known := map[string]bool{}
	for _, p := range strings.Split(phrases, "\n") {
		known[normalPhrase(p)] = true
	}
	said, text := 0, unquoted(comment)
	if strings.ContainsAny(text, "?？") {
		return false
	}
	for _, sentence := range strings.FieldsFunc(text, isSentenceEnd) {
		sentence = normalPhrase(sentence)
		if sentence == "" {
			continue // emoji or punctuation
		}
		if !known[sentence] && !known[impolite(sentence)] {
			return false
		}
		said++
	}
	return said > 0
}

// unquoted drops quoted lines and mentions.
func unquoted(comment string) string {
	var kept []string
	for _, line := range strings.Split(comment, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), ">") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if !strings.HasPrefix(word, "@") {
				kept = append(kept, word)
			}
		}
		kept = append(kept, "\n")
	}
	return strings.Join(kept, " ")
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
