package i18n

import "strings"

// doctorNames say what each check of doctor is about. In --json they keep their ids.
var doctorNames = texts{
	"doctor.check.config":           {"configuration", "設定"},
	"doctor.check.file mode":        {"configuration file", "設定ファイル"},
	"doctor.check.contexts":         {"directory of contexts", "コンテキストのディレクトリ"},
	"doctor.check.files":            {"files of contexts", "コンテキストのファイル"},
	"doctor.check.disk":             {"free space", "空き容量"},
	"doctor.check.git":              {"git", "git"},
	"doctor.check.workspace":        {"working directory", "作業ディレクトリ"},
	"doctor.check.model":            {"model server", "モデルサーバー"},
	"doctor.check.context window":   {"context window of the model", "モデルのコンテキスト長"},
	"doctor.check.tool calls":       {"tool calls of the model", "モデルのツール呼び出し"},
	"doctor.check.conversation":     {"conversation with the model", "モデルとの会話"},
	"doctor.check.tool servers":     {"tool servers", "ツールサーバー"},
	"doctor.check.tool server":      {"tool server %s", "ツールサーバー %s"},
	"doctor.check.sandbox":          {"sandbox for commands", "コマンドのサンドボックス"},
	"doctor.check.container":        {"container for commands", "コマンドのコンテナ"},
	"doctor.check.prompt injection": {"prompt injection", "プロンプトインジェクション"},
	"doctor.check.pause signal":     {"pause signal", "一時停止シグナル"},
	"doctor.check.project":          {"project %s", "プロジェクト %s"},
	"doctor.check.forge":            {"forge %s", "フォージ %s"},
}

// Check is what a check of doctor is called: by its id, or by the project or the host
// of the forge that it is about.
func Check(l Lang, id string) string {
	if name, ok := strings.CutPrefix(id, "tool server "); ok {
		return Text(l, "doctor.check.tool server", name)
	}
	switch {
	case Has(ID("doctor.check." + id)):
		return Text(l, ID("doctor.check."+id))
	case strings.Contains(id, "/"):
		return Text(l, "doctor.check.project", id)
	}
	return Text(l, "doctor.check.forge", id)
}
