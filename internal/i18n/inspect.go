package i18n

// inspectTexts are printed by agent inspect.
var inspectTexts = texts{
	"inspect.calls":  {"model calls: %d, tool calls: %d", "モデル呼び出し %d 回、ツール呼び出し %d 回"},
	"inspect.tokens": {"tokens: %d", "%d トークン"},
	"inspect.work":   {"unfinished work: %s", "未完了の作業: %s"},
}
