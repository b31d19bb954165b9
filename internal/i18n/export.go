package i18n

// exportTexts are those of exported documents.
var exportTexts = texts{
	"export.task":    {"task", "タスク"},
	"export.context": {"context", "コンテキスト"},
	"export.state":   {"state", "状態"},
	"export.time":    {"time", "期間"},
	"export.model":   {"model", "モデル"},
	"export.calls":   {"calls", "呼び出し"},
	"export.tokens":  {"tokens: prompt / output", "トークン: 入力 / 出力"},
	"export.cost":    {"cost", "費用"},
	"export.work":    {"unfinished work", "未完了の作業"},

	"doctor.check.telemetry": {"telemetry", "テレメトリー"},
	"doctor.telemetry":       {"%s takes spans", "%s はスパンを受け付けています"},
	"doctor.telemetry.none":  {"spans cannot be sent: %v", "スパンを送信できません: %v"},
	"doctor.todo.telemetry":  {"start the collector, or correct telemetry.otlp_endpoint and its headers; tasks are worked on without it", "コレクターを起動するか、telemetry.otlp_endpoint とヘッダーを修正してください。タスクの処理には影響しません"},

	"export.sent": {"%d spans sent to %s", "%d 件のスパンを %s に送信しました"},
}
