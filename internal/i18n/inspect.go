package i18n

// inspectTexts are printed by agent inspect.
var inspectTexts = texts{
	"inspect.tokens":      {"tokens: %s", "%s トークン"},
	"inspect.whole":       {"whole: agent inspect %s %d", "全体: agent inspect %s %d"},
	"day.Mon":             {"Monday", "月曜日"},
	"day.Tue":             {"Tuesday", "火曜日"},
	"day.Wed":             {"Wednesday", "水曜日"},
	"day.Thu":             {"Thursday", "木曜日"},
	"day.Fri":             {"Friday", "金曜日"},
	"day.Sat":             {"Saturday", "土曜日"},
	"day.Sun":             {"Sunday", "日曜日"},
	"inspect.took":        {"from start to end: %s", "開始から終了まで %s"},
	"inspect.nothing":     {"(this event holds nothing but its type and time)", "（種類と時刻以外の内容はありません）"},
	"inspect.paused":      {"paused: %s", "一時停止: %s"},
	"inspect.awaiting":    {"waiting for a reply: %s", "返信待ち: %s"},
	"inspect.resumed":     {"resumed", "再開"},
	"inspect.resumed.by":  {"resumed by %s", "%sが再開しました"},
	"inspect.interrupted": {"the process ended without a word (killed, or the machine went down)", "プロセスが予告なく終了しました（強制終了またはマシンの停止）"},
	"inspect.work":        {"unfinished work: %s", "未完了の作業: %s"},
}
