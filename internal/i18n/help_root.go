package i18n

// helpRoot is the help of the program, and what several commands have.
var helpRoot = []pair{
	{"A coding agent whose log is the product", "すべての手順をログに残すコーディングエージェント"},
	{`agent picks up labelled issues, talks to a model and to MCP tool servers, and
reports back. Every step is an event in an append-only log, so that a run survives
kill -9, can be replayed, and shows what happened and why.

Exit codes: 0 done or nothing to do; 1 a task failed or a replay differs; 2 usage;
65 damaged data; 69 written by a newer release; 74 input or output failed; 75 later;
78 configuration or machine; 130 Ctrl-C.`,
		`ラベルの付いた Issue に着手し、モデルや MCP ツールサーバーとやり取りして、結果を
報告します。すべての手順を追記専用のログにイベントとして記録するため、kill -9 で
中断しても続行でき、実行を再現でき、何がなぜ起きたかを後から確認できます。

終了コード: 0 完了または対象なし、1 タスクの失敗または replay の不一致、
2 使い方の誤り、65 データの破損、69 より新しいリリースが書いたデータ、
74 入出力エラー、75 後で再試行、78 設定またはマシンの問題、130 Ctrl-C`},
	{"see the whole thing work, on your machine alone", "このマシンだけで全体を実演"},
	{"work on what is labelled, then end (for cron)", "ラベルの付いたものを処理して終了（cron 向け）"},
	{"the same, every 30 seconds", "30 秒ごとに繰り返し"},
	{"what there is", "コンテキストの一覧"},
	{"what happened, and why", "何が、なぜ起きたか"},
	{"configuration file (default $CONFIG_FILE, then ~/.config/agent/config.yaml)",
		"設定ファイル（既定: $CONFIG_FILE、なければ ~/.config/agent/config.yaml）"},
	{"directory of the contexts (default: contexts_dir of the configuration)", "コンテキストの置き場所（既定: 設定の contexts_dir）"},

	{"Work:", "作業:"},
	{"See what happened:", "経過の確認:"},
	{"Look after the contexts:", "コンテキストの管理:"},
	{"Set up:", "セットアップ:"},

	{"print the report as one JSON object", "レポートを 1 つの JSON オブジェクトで出力"},
	{"print one JSON object a line for each file", "ファイルごとに JSON オブジェクトを 1 行で出力"},
	{"at event `SEQ`", "イベント `SEQ` の時点"},
	{"print one JSON object a line for each context", "コンテキストごとに JSON オブジェクトを 1 行で出力"},
	{"print one JSON object", "1 つの JSON オブジェクトを出力"},
	{"print one JSON object a line", "JSON オブジェクトを 1 行に 1 つ出力"},
	{"print one JSON object a line: each task and its outcome", "タスクとその結果ごとに JSON オブジェクトを 1 行で出力"},
	{"say only what went wrong or waits for a person (for cron)", "失敗と対応待ちのみを表示（cron 向け）"},
	{"print a line for each step; a terminal shows them anyway", "ステップごとに 1 行を表示（端末では常に表示）"},
	{"all contexts", "すべてのコンテキスト"},
	{"print the result as one JSON object", "結果を 1 つの JSON オブジェクトで出力"},
}
