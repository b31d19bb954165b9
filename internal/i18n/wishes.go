package i18n

// wishTexts answer commands in comments, and say which there are.
var wishTexts = texts{
	"told.used":    {"**Used**: %s", "**使用量**: %s"},
	"told.of":      {" of %s", "（上限 %s）"},
	"told.tokens":  {"%s tokens", "トークン %s"},
	"told.cost":    {"%s USD", "%s USD"},
	"told.minutes": {"%s minutes", "%s 分"},
	"told.calls":   {"%d model calls · %d tool calls", "LLM呼び出し %d 回 · ツール呼び出し %d 回"},
	"told.steps":   {"**Steps**: %d of %d done, %d failed", "**手順**: %d / %d 件完了、失敗 %d 件"},
	"told.next":    {"**Next**: %s", "**次の手順**: %s"},
	"told.latest":  {"**Latest**: %s", "**直近の作業**: %s"},
	"told.retry":   {"**Next**: `%s`, or the label set again, starts a fresh attempt", "**次の操作**: `%s` とコメントするか、ラベルを付け直すと、新たに開始します"},

	"why.approved.what.more": {"%g more of a limit", "上限を %g 引き上げ"},

	"stop.retry":          {"somebody with write access asked for a fresh attempt in a comment", "書き込み権限のある方がコメントで再試行を指示しました"},
	"why.trigger.comment": {"a comment asked for another attempt", "コメントで再試行が指示されたため"},
	"seen.by.comment":     {"a comment asks for another attempt", "コメントで再試行が指示されました"},
	"wake.retry":          {"a comment asks for another attempt", "コメントで再試行が指示されました"},
	"wake.status":         {"a comment asks for the status", "コメントで状況を尋ねられました"},
	"wake.budget":         {"a comment raises a limit", "コメントで上限が引き上げられました"},
}
