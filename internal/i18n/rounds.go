package i18n

// roundTexts are what run, loop and a dry run say about tasks, and what agent why
// shows of the latest round.
var roundTexts = texts{
	"round.working": {"working: %s (%s): %s", "作業中: %s (%s): %s"},
	"round.line":    {"%s: %s (%s), %s, tool calls: %d, %s", "%s: %s (%s)、%s、ツール呼び出し %d 回、%s"},
	"round.busy":    {"busy: %s is being worked on by another process", "作業中: %s は別のプロセスが処理しています"},
	"round.paused":  {"paused: %s", "一時停止中: %s"},
	"round.skipped": {"skipped: %s: %s", "見送り: %s: %s"},
	"round.left":    {"left over: %s: %s", "取り残し: %s: %s"},
	"round.signal":  {"the pause signal is set (%s); no new tasks are started", "一時停止シグナルが設定されています（%s）。新しいタスクは開始しません"},

	"run.nothing":        {"nothing to do", "対象はありません"},
	"run.nothing.paused": {"nothing to do; %d paused, agent status shows why", "対象はありません。一時停止中 %d 件（理由は agent status で確認できます）"},

	// Faults of the machine, and what to do about them. The arguments of
	// fault.todo.model are the keys of the model, of the address and of the API key.
	"fault.machine":              {"this machine", "この環境"},
	"fault.workspaces":           {"workspaces_dir cannot be written: %v", "workspaces_dir に書き込めません: %v"},
	"fault.room":                 {"too little free space: %v", "空き容量が足りません: %v"},
	"fault.server":               {"the tool server %s cannot be used: %s", "ツールサーバー %s を使用できません: %s"},
	"fault.model":                {"the model server %s refuses the key: %s", "モデルサーバー %s がキーを拒否しました: %s"},
	"fault.model.others":         {"no other task is started, because the model server would refuse it too: %s", "他のタスクもモデルサーバーに拒否されるため、開始しません: %s"},
	"fault.todo.workspaces":      {"set workspaces_dir to a directory that belongs to you", "workspaces_dir に自分が所有するディレクトリを指定してください"},
	"fault.todo.clone":           {"if that is right, list it in clone_from in the section of the forge", "正しい場合は、フォージの設定の clone_from に追加してください"},
	"fault.todo.temp":            {"make room in the directory for temporary files (TMPDIR)", "一時ディレクトリ（TMPDIR）を書き込めるようにしてください"},
	"fault.todo.server.url":      {"check url and headers of %s in mcp_servers, and the network", "mcp_servers の %s の url と headers、およびネットワークを確認してください"},
	"fault.todo.model.auth":      {"set a valid key: %[3]s", "有効なキーを設定してください: %[3]s"},
	"fault.todo.model.quota":     {"add credit to the account of the key %[3]s", "キー %[3]s のアカウントの残高を追加してください"},
	"fault.todo.resume":          {"; then run: agent resume %s", "。その後、agent resume %s を実行してください"},
	"fault.todo.model.not_found": {"check %[1]s and %[2]s", "%[1]s と %[2]s を確認してください"},

	// Why an item does not become a task.
	"skip.state":    {"it is %s", "状態が %s です"},
	"skip.label":    {"its label was removed", "ラベルが外されています"},
	"skip.access":   {"public project: @%s added the label but has no write access", "公開プロジェクト: @%s がラベルを付けましたが、書き込み権限がありません"},
	"skip.approval": {"@%s set the label but has no write access, so this is no approval", "@%s がラベルを付けましたが、書き込み権限がないため承認とはみなされません"},
	"skip.old":      {"the label was set before the pause. Remove it and set it again", "ラベルは一時停止より前に付けられたものです。いったん外して付け直してください"},
	"skip.unknown":  {"the forge does not say who set the label, or when, so this is no approval. Run `agent resume`", "誰がいつラベルを付けたのか確認できないため、承認とはみなされません。`agent resume` を実行してください"},
	"skip.try":      {"it is a try, which no run takes. To go on: agent try --resume %s", "agent try のタスクのため、実行対象外です。続けるには: agent try --resume %s"},
	"skip.forge":    {"no forge with host %s is configured. Add it to the configuration again, or run: agent stop %s", "ホスト %s のフォージは設定されていません。設定に追加し直すか、次を実行してください: agent stop %s"},
	"skip.project":  {"%s is no longer among the configured repositories", "%s は設定されたリポジトリに含まれなくなりました"},
	"seen.workers":  {"all %d workers of this machine are busy (workers)", "このマシンの %d 個のワーカーはすべて使用中です（workers）"},
	"skip.ended":    {"it has ended", "終了しています"},

	// Why a task is started, or what a round saw of it.
	"seen.by.label":   {"it has the label", "ラベルが付いています"},
	"seen.by.command": {"it was named on the command line", "コマンドラインで指定されました"},
	"seen.busy":       {"another process is working on it", "別のプロセスが処理しています"},
	"seen.stop":       {"a stop was requested", "停止が要求されています"},
	"seen.pause":      {"a pause was requested", "一時停止が要求されています"},
	"seen.leftover": {"it has the label %q, but no context here is working on it: remove the label, or set %q again",
		"ラベル %q が付いていますが、ここで処理中のコンテキストはありません。ラベルを外すか、%q を付け直してください"},

	// Why a task is resumed, or stopped without being resumed.
	"wake.other":       {"it was resumed", "再開されました"},
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
