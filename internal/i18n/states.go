package i18n

// stateTexts are the states of a context, by their names in --json.
var stateTexts = texts{
	"state.running":     {"running", "実行中"},
	"state.interrupted": {"interrupted", "中断"},
	"state.paused":      {"paused", "一時停止"},
	"state.awaiting":    {"awaiting", "返信待ち"},
	"state.completed":   {"completed", "完了"},
	"state.stopped":     {"stopped", "停止"},
	"state.failed":      {"failed", "失敗"},
	"state.damaged":     {"damaged", "破損"},
	"state.partial":     {"partial", "一部未完了"},

	"until.person":  {"person", "担当者"},
	"until.comment": {"answer", "回答"},
	"until.signal":  {"resume", "再開"},
	"until.time":    {"time", "時刻"},
}

// State is the one word for a state of a context, wherever people read it.
func State(l Lang, state string) string { return Word(l, "state.", state) }

// Standing is a state with what is waited for, and whether something is left to do, as lists say it.
func Standing(l Lang, state, waits string, partial bool) string {
	text := State(l, state)
	if waits != "" {
		text += " (" + Until(l, waits) + ")"
	}
	if partial {
		text += " (" + State(l, "partial") + ")"
	}
	return text
}

// Until is what a paused context waits for: a person, a comment, a signal, or a time.
func Until(l Lang, until string) string { return Word(l, "until.", until) }

// Word is a word of a vocabulary; one that is newer than the table stays as it is.
func Word(l Lang, prefix ID, name string) string {
	if id := prefix + ID(name); Has(id) {
		return Text(l, id)
	}
	return name
}
