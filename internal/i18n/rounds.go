package i18n

// roundTexts are what run, loop and a dry run say about tasks, and what agent why
// shows of the latest round.
var roundTexts = texts{
	"round.working": {"working: %s (%s): %s", "作業中: %s (%s): %s"},
	"round.line":    {"%s: %s (%s), model calls: %d, tool calls: %d, %s", "%s: %s (%s)、モデル呼び出し %d 回、ツール呼び出し %d 回、%s"},
	"round.busy":    {"busy: %s is being worked on by another process", "作業中: %s は別のプロセスが処理しています"},
	"round.paused":  {"paused: %s", "一時停止中: %s"},
	"round.skipped": {"skipped: %s: %s", "見送り: %s: %s"},
	"round.left":    {"left over: %s: %s", "取り残し: %s: %s"},
	"round.signal":  {"the pause signal is set (%s); no new tasks are started", "一時停止シグナルが設定されています（%s）。新しいタスクは開始しません"},

	"run.nothing":        {"nothing to do", "対象はありません"},
	"run.nothing.paused": {"nothing to do; %d paused, agent status shows why", "対象はありません。一時停止中 %d 件（理由は agent status で確認できます）"},

	// Why an item does not become a task.
	"skip.state":  {"it is %s", "状態が %s です"},
	"skip.label":  {"its label was removed", "ラベルが外されています"},
	"skip.access": {"public project: @%s added the label but has no write access", "公開プロジェクト: @%s がラベルを付けましたが、書き込み権限がありません"},
	"skip.forge":  {"no forge with host %s is configured", "ホスト %s のフォージは設定されていません"},
	"skip.ended":  {"it has ended", "終了しています"},

	// Why a task is started, or what a round saw of it.
	"seen.by.label":   {"it has the label", "ラベルが付いています"},
	"seen.by.command": {"it was named on the command line", "コマンドラインで指定されました"},
	"seen.busy":       {"another process is working on it", "別のプロセスが処理しています"},
	"seen.stop":       {"a stop was requested", "停止が要求されています"},
	"seen.pause":      {"a pause was requested", "一時停止が要求されています"},
	"seen.leftover": {"it has the label %q, but no context here is working on it: remove the label, or set %q again",
		"ラベル %q が付いていますが、ここで処理中のコンテキストはありません。ラベルを外すか、%q を付け直してください"},

	// Why a task is resumed, or stopped without being resumed.
	"wake.interrupted": {"the previous run was interrupted", "前回の実行が中断されました"},
	"wake.command":     {"resumed by a command", "コマンドで再開されました"},
	"wake.label":       {"the label was set again", "ラベルが付け直されました"},
	"wake.comment":     {"the author answered", "作成者が返信しました"},
	"wake.timer":       {"the waiting time is over", "待機時間が終わりました"},
	"wake.signal_file": {"the pause signal was removed", "一時停止シグナルが解除されました"},
	"wake.timeout":     {"nobody answered in time", "期限までに返信がありませんでした"},
	"wake.expired":     {"it was paused for too long", "一時停止の期限が過ぎました"},
	"wake.closed":      {"the item was closed", "アイテムがクローズされました"},
	"wake.gone":        {"the item is gone", "アイテムが見つかりません"},
}
