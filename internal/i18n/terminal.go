package i18n

// terminalTexts are printed by commands that look after contexts.
var terminalTexts = texts{
	"run.trouble": {"trouble: %s: %v", "問題: %s: %v"},

	"list.context": {"CONTEXT", "コンテキスト"},
}
