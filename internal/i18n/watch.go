package i18n

// watchTexts are shown while tasks are worked on.
var watchTexts = texts{
	"watch.calls":          {"calls: %d", "呼び出し %d 回"},
	"watch.tokens":         {"tokens: %s", "%s トークン"},
	"watch.action":         {" %d/%d", " %d/%d"},
	"watch.model":          {"waits for the model", "モデルの応答待ち"},
	"watch.waits":          {"asks the model again in %s", "%s 後にモデルへ再送信"},
	"watch.prepares":       {"prepares", "準備中"},
	"watch.comment":        {"writes a comment", "コメントを投稿中"},
	"watch.labels":         {"sets labels", "ラベルを更新中"},
	"watch.change":         {"publishes the change", "変更を公開中"},
	"watch.failed":         {"model call failed", "モデル呼び出しに失敗"},
	"watch.comment.failed": {"comment failed", "コメントの投稿に失敗"},
	"watch.labels.failed":  {"labels failed", "ラベルの更新に失敗"},
	"watch.change.failed":  {"change failed", "変更の公開に失敗"},
	"watch.change.opened":  {"change", "変更"},
	"watch.recovered":      {"the previous run was interrupted", "前回の実行が中断されました"},
	"watch.limit":          {"limit %s reached: %g of %g", "上限 %s に達しました: %g / %g"},
	"watch.plan":           {"plan with %d actions", "計画（アクション %d 件）"},
	"watch.more":           {"… %d more tasks", "… ほか %d 件のタスク"},
	"watch.stopping":       {"stopping; press Ctrl-C again to stop at once", "停止しています。もう一度 Ctrl-C を押すと直ちに終了します"},
	"watch.kept":           {"interrupted; what was done is kept. Go on with: agent run %s", "中断しました。ここまでの作業は保存されています。続けるには: agent run %s"},
	"watch.idle":           {"interrupted; no task was being worked on", "中断しました。処理中のタスクはありません"},
}
