package viewer

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
)

// What people did, and why the work stood still, are sentences in both languages: no word of
// the log's vocabulary is left over.
func TestWords(t *testing.T) {
	comments := func(class event.CommentClass) event.Body {
		return &event.CommentsFetched{Reason: "poll", Comments: []event.Comment{{Author: "ann", Verdict: class}}}
	}
	for _, c := range []struct {
		body   event.Body
		en, ja string
	}{
		{&event.PauseRequested{By: "comment", Actor: "ann"}, "@ann (comment) asked for a pause", "@ann（コメント）が一時停止を要求しました"},
		{&event.PauseRequested{By: "signal_file"}, "the signal file asked for a pause", "シグナルファイルが一時停止を要求しました"},
		{&event.ResumeRequested{By: "timer"}, "the timer asked to resume", "タイマーが再開を要求しました"},
		{&event.ResumeRequested{By: "reaction", Actor: "ann", Plan: "ab"}, "@ann (reaction) approved the plan", "@ann（リアクション）が計画を承認しました"},
		{&event.ResumeRequested{By: "comment", Actor: "ann", Tree: "ab"}, "@ann (comment) approved the change", "@ann（コメント）が変更を承認しました"},
		{&event.ResumeRequested{By: "comment", Actor: "ann", Add: 2.5}, "@ann (comment) asked to resume, and granted 2.5 more", "@ann（コメント）が再開を要求しました（上限に 2.5 を追加）"},
		{&event.StopRequested{By: "command", Actor: "root"}, "root (command) asked to stop", "root（コマンド）が終了を要求しました"},
		{&event.StopRequested{By: "closed"}, "the item was closed", "アイテムがクローズされました"},
		{comments(event.CommandComment), "@ann gave a command in a comment", "@annがコメントで指示しました"},
		{comments(event.ApprovalComment), "@ann gave an approval in a comment", "@annがコメントで承認しました"},
		{comments(event.BotComment), "", ""},
		{&event.ReactionRequested{Reaction: "thumbs_up", Comment: "7"}, "reaction 👍 to comment 7", "リアクション 👍（コメント 7）"},
		{&event.LimitReached{Limit: "calls", Used: 50, Max: 50}, "limit of model calls reached: 50 of 50 used", "LLM呼び出し回数 の上限に達しました（50 / 50）"},
		{&event.StatusRequested{By: "comment", Actor: "ann"}, "@ann (comment) asked how far the work is", "@ann（コメント）が進捗を尋ねました"},
		{&event.LimitRaised{Limit: "cost", Add: 2, By: "comment", Actor: "ann"}, "@ann (comment) granted 2 more USD of a task", "@ann（コメント）が上限に 2 を追加しました（タスクの費用（USD））"},
		{&event.ContextAwaiting{Reason: "clarification"}, "it waits for the answer to a question", "質問への回答を待っています"},
		{&event.ContextPaused{Reason: event.ModelPause("rate_limit"), Until: event.Until{Kind: "time"}}, "the model is not answering", "モデルが応答しません"},
		{&event.ContextPaused{Reason: "tomorrow's"}, "for a reason that this release does not know", "このリリースでは不明な理由です"},
		{&event.ContextStopped{Reason: "tomorrow's"}, "tomorrow's", "tomorrow's"},
		{&event.ContextStopped{Reason: "closed"}, "the item was closed", "アイテムがクローズされました"},
	} {
		for lang, want := range map[i18n.Lang]string{i18n.En: c.en, i18n.Ja: c.ja, "": c.en} {
			if got := Words(event.Event{Body: c.body}, lang); got != want {
				t.Errorf("%s %+v: %q, want %q", lang, c.body, got, want)
			}
		}
	}
	for _, reason := range []event.PauseReason{event.PauseOnRequest, event.PauseForked, event.PauseChange, event.PausePlan, event.PauseLimit, event.PauseText, event.PauseLabels,
		event.PauseUnread, event.PauseRepeatedCall, event.PauseFilesChanged, event.PauseFilesUnreadable, event.PauseFilesLost} {
		if got := Words(event.Event{Body: &event.ContextPaused{Reason: reason}}, i18n.En); strings.Contains(got, "does not know") {
			t.Errorf("%s has no words", reason)
		}
	}
}
