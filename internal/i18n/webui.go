package i18n

// webTexts are on the pages of agent ui --serve.
var webTexts = texts{
	"ui.list":          {"Contexts", "コンテキスト一覧"},
	"ui.stats":         {"Statistics", "統計"},
	"ui.words":         {"words, number or id", "語句・番号・ID"},
	"ui.repo":          {"repository", "リポジトリ"},
	"ui.state":         {"state", "状態"},
	"ui.task":          {"task", "タスク"},
	"ui.age":           {"age", "経過"},
	"ui.every.state":   {"every state", "すべての状態"},
	"ui.filter":        {"filter", "絞り込む"},
	"ui.show":          {"show", "表示"},
	"ui.none":          {"No context fits.", "該当するコンテキストはありません。"},
	"ui.compare":       {"show two beside each other", "2 件を並べて表示"},
	"ui.beside":        {"beside this one:", "並べて表示:"},
	"ui.two":           {"choose two contexts", "コンテキストを 2 件選んでください"},
	"ui.newer":         {"newer", "新しい方"},
	"ui.older":         {"older", "古い方"},
	"ui.by":            {"by", "分類"},
	"ui.since":         {"since", "期間"},
	"ui.outcomes":      {"Outcomes by %s", "%sごとの結果"},
	"ui.not.completed": {"stopped, failed", "停止・失敗"},
	"ui.serves":        {"Open %s in a browser. Ctrl-C ends it.", "ブラウザーで %s を開いてください。Ctrl-C で終了します。"},

	"ui.reading":   {"Not all contexts have been read yet. This page comes again by itself.", "まだすべてのコンテキストを読み終えていません。このページは自動的に更新されます。"},
	"ui.adding":    {"Adding up the logs: %d of %d read. This page comes again by itself.", "ログを集計しています（%d / %d 件）。このページは自動的に更新されます。"},
	"ui.as.of":     {"As of %s", "%s 時点"},
	"ui.more.rows": {"%d more rows are left out; agent stats prints them all.", "ほかに %d 行あります。agent stats ですべて表示できます。"},
}
