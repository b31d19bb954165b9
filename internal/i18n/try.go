package i18n

// tryTexts are about tasks without a forge.
var tryTexts = texts{
	"try.model":       {"Model: %s, %s at %s (%s).", "モデル: %s、%s（%s）。%s"},
	"try.from.config": {"from the configuration%.0s", "設定による%.0s"},
	"try.from.env":    {"from the environment: %s", "環境変数 %s による"},
	"try.from.local":  {"found on this machine%.0s", "このマシンで検出%.0s"},
	"try.paid":        {" Each call costs money.", "呼び出しごとに料金がかかります。"},
	"try.nomodel":     {"no model was found: there is no configuration, no OPENAI_API_KEY, ANTHROPIC_API_KEY or the like, and neither Ollama nor LM Studio answers on this machine. Start one of them, set a variable, or run agent init", "モデルが見つかりません。設定も OPENAI_API_KEY や ANTHROPIC_API_KEY などの環境変数もなく、このマシンの Ollama と LM Studio も応答しません。いずれかを起動するか、環境変数を設定するか、agent init を実行してください"},
	"try.answer":      {"Your answer (an empty line leaves it waiting): ", "回答（空行なら待機のまま）: "},
	"try.ask":         {"apply? [y/N] ", "適用しますか？ [y/N] "},
	"try.applied":     {"Applied: %s", "適用しました: %s"},
	"try.notapplied":  {"Not applied: %s", "適用していません: %s"},
	"try.failed":      {"The task is %s, so nothing is applied: %s", "タスクは %s のため、何も適用しません。%s"},
	"try.goon":        {"The task is %s: %s\nTo go on: agent try --resume %s", "タスクは %s です。%s\n続けるには: agent try --resume %s"},
	"try.outage":      {"the model is not answering", "現在モデルが応答しません"},
	"try.nothing":     {"Nothing was changed.", "変更はありません。"},
	"try.later":       {"To apply the change later: agent try --resume %s", "後で変更を適用するには: agent try --resume %s"},
	"try.ended":       {"this try has ended (%s), so there is nothing to apply or to go on with", "この agent try は終了しています（%s）。適用や続行の対象はありません"},
	"try.ended.later": {"this try has ended. To apply its change: agent try --resume %s", "この agent try は終了しています。変更を適用するには: agent try --resume %s"},
	"try.kept":        {"The unfinished work is kept with the context.", "作業途中の変更はコンテキストに保存されています。"},
	"try.kepton":      {"interrupted; what was done is kept. To go on: agent try --resume %s", "中断しました。ここまでの作業は保存されています。続けるには: agent try --resume %s"},
	"try.context":     {"Context %s; to see what happened: agent inspect %s", "コンテキスト %s。経過を見るには: agent inspect %s"},
}
