package i18n

// uiTexts are those of the browser in the terminal.
var uiTexts = texts{
	"tui.contexts": {"agent · contexts: %d of %d", "agent · コンテキスト: %d / %d 件"},
	"tui.id":       {"context", "ID"},
	"tui.state":    {"state", "状態"},
	"tui.age":      {"age", "経過"},
	"tui.cost":     {"USD", "USD"},
	"tui.task":     {"task", "タスク"},
	"tui.title":    {"title", "タイトル"},
	"tui.none":     {"No context.", "コンテキストはありません。"},
	"tui.loading":  {"reading …", "読み込み中…"},
	"tui.bysteps":  {"by step:", "ステップ別:"},
	"tui.calls":    {"calls", "呼び出し"},
	"tui.tokens":   {"tokens", "トークン"},
	"tui.time":     {"time", "時間"},
	"tui.part":     {"events %d–%d of %d", "イベント %d–%d / %d"},
	"tui.failed":   {"%d failed", "失敗 %d 件"},

	"tui.keys.filter": {"words: all must fit · ↑ ↓ choose · enter keep the filter · esc drop it", "語句（すべてに一致） · ↑ ↓ 選択 · enter 確定 · esc 解除"},

	"tui.ask.pause":  {"Pause %s? y/n ", "%s を一時停止しますか？ y/n "},
	"tui.ask.resume": {"Resume %s? y/n ", "%s を再開しますか？ y/n "},
	"tui.ask.stop":   {"Stop %s for good? y/n ", "%s を終了させますか（元に戻せません）？ y/n "},
	"tui.ask.fork":   {"Fork %s at event %d. Words for the model (enter forks, esc does not):", "%s をイベント %d からフォークします。モデルへの指示（enter で実行、esc で中止）:"},

	"tui.arguments": {"Arguments", "引数"},
	"tui.output":    {"Output", "出力"},
	"tui.message":   {"Message to the model: %s", "モデルへのメッセージ: %s"},
	"tui.comment":   {"Comment: %s", "コメント: %s"},
	"tui.by":        {"By %s", "%s による"},
	"tui.summary":   {"Summary of events %d to %d", "イベント %d から %d の要約"},
	"tui.revised":   {"Plan revised: %s", "計画の変更: %s"},
	"tui.reasoning": {"Reasoning", "推論"},
	"tui.reply":     {"Reply", "応答"},
	"tui.reply.cut": {"Reply (%s)", "応答（%s）"},
	"tui.call":      {"→ %s", "→ %s"},
	"tui.plan":      {"Plan", "計画"},
	"tui.actions":   {"Actions: %d", "アクション: %d 件"},
	"tui.diff":      {"Changed files: %d", "変更ファイル: %d 件"},
	"tui.used":      {"%s tokens (prompt %d, output %d)", "%s トークン（入力 %d、出力 %d）"},
	"tui.cut":       {"… the rest: agent inspect %s %d", "…続きは agent inspect %s %d"},
}
