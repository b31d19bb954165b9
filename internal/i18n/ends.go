package i18n

// endTexts are words about pauses and ends that belong to no single comment.
var endTexts = texts{
	"progress.paused": {"⏸️ **Paused**", "⏸️ **一時停止中です**"},
	"facts.begun":     {"Model calls without a reply, which count towards the limit: %d", "応答のなかったLLM呼び出し（上限に含まれます）: %d回"},
}
