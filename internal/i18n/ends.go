package i18n

// endTexts are words about pauses and ends that belong to no single comment.
var endTexts = texts{
	"progress.paused": {"⏸️ **Paused**", "⏸️ **一時停止中です**"},
	"facts.begun":     {"Other model calls that count towards the limit (no reply, or a summary): %d", "上限に含まれるその他のLLM呼び出し（応答なし・要約）: %d回"},
	"paused.patch":    {" It is also kept with the context %s as `%s`; `git am` takes it.", "コンテキスト %s にも `%s` として保存されています（`git am` で取り込めます）。"},
	"resumed.outage":  {"▶️ **Resumed.** The model did not answer from %s to %s UTC.", "▶️ **再開しました。** %s から %s（UTC）までモデルが応答しませんでした。"},
	"damaged.head":    {"⚠️ **The agent's record of its work on this task is damaged.** It leaves the task alone until somebody has looked at it on its machine: `agent verify` says what is wrong, `agent repair` helps.", "⚠️ **このタスクの作業記録が破損しています。** エージェントのマシンで確認されるまで、このタスクの処理は行いません。`agent verify` で原因を確認し、`agent repair` で修復してください。"},
	"why.assignee":    {"only items that are assigned to @%s are looked at (assignee in the configuration)", "設定の assignee により、@%s が担当する項目だけを対象としています"},
	"seen.left":       {"left as it is: the model server refused another task (%s)", "そのままにしました: モデルのサーバーが別のタスクを拒否しました（%s）"},
	"status.fault":    {"the machine or its configuration stopped the work %s ago: %s", "環境または設定の問題により、%s前に処理が止まりました: %s"},
}
