package i18n

// endTexts are words about pauses and ends that belong to no single comment.
var endTexts = texts{
	"progress.paused": {"⏸️ **Paused**", "⏸️ **一時停止中です**"},
	"facts.begun":     {"Model calls without a reply, which count towards the limit: %d", "応答のなかったLLM呼び出し（上限に含まれます）: %d回"},
	"paused.patch":    {" It is also kept with the context %s as `%s`; `git am` takes it.", "コンテキスト %s にも `%s` として保存されています（`git am` で取り込めます）。"},
	"resumed.outage":  {"▶️ **Resumed.** The model did not answer from %s to %s UTC.", "▶️ **再開しました。** %s から %s（UTC）までモデルが応答しませんでした。"},
	"seen.left":       {"left as it is: the model server refused another task (%s)", "そのままにしました: モデルのサーバーが別のタスクを拒否しました（%s）"},
	"status.fault":    {"the machine or its configuration stopped the work %s ago: %s", "環境または設定の問題により、%s前に処理が止まりました: %s"},
}
