package i18n

// treeTexts are about the saved files of contexts.
var treeTexts = texts{
	"diff.added":         {"new     ", "追加"},
	"diff.deleted":       {"deleted ", "削除"},
	"diff.changed":       {"changed ", "変更"},
	"diff.mode":          {"mode    ", "モード"},
	"diff.type":          {"type    ", "種別"},
	"diff.binary":        {"binary", "バイナリ"},
	"diff.total":         {" %d files, +%d −%d lines", " %d ファイル、+%d −%d 行"},
	"diff.same":          {"The conversations are the same to the end.", "会話は最後まで同じです。"},
	"diff.parts":         {"The runs part at event %d and event %d:", "イベント %d と %d で分かれています:"},
	"diff.over":          {"(it had ended)", "（終了済み）"},
	"diff.run":           {"%s  %s  %s", "%s  %s  %s"},
	"diff.took":          {"   messages: %d, %s, tool calls: %d, tokens: %s, %s, %s", "   メッセージ %d 件、%s、ツール呼び出し %d 回、%s トークン、%s、%s"},
	"diff.size":          {"   changed: %d files, +%d −%d lines", "   変更: %d ファイル、+%d −%d 行"},
	"diff.command":       {"   %s  %s", "   %s  %s"},
	"diff.exit":          {"exit %s", "終了コード %s"},
	"files.unstored":     {"(no step changed what lies below)", "（この下はどのステップでも変更されていません）"},
	"files.head":         {"files at event %d, commit %s", "イベント %d 時点のファイル、コミット %s"},
	"restore.done":       {"files at event %[2]d written to %[3]s: %[1]d", "イベント %[2]d 時点のファイルを %[3]s に書き出しました: %[1]d 件"},
	"restore.cloning":    {"cloning commit %s, which the work began on", "作業の起点のコミット %s をクローンしています"},
	"restore.nobase":     {"commit %[1]s, which the work began on, cannot be had: %[2]s. Only files that steps changed are written", "作業の起点のコミット %[1]s を取得できません: %[2]s。各ステップが変更したファイルのみを書き出します"},
	"restore.missing":    {"missing: %s", "欠落: %s"},
	"restore.more":       {"and %d more", "ほか %d 件"},
	"restore.redacted":   {"a secret was taken out of %s", "%s から機密情報を除去しました"},
	"restore.incomplete": {"not all files could be written", "書き出せなかったファイルがあります"},
}
