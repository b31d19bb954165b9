package i18n

// turnTexts are about projects that are asked in turns.
var turnTexts = texts{
	"doctor.turns":      {"the server lists no issues of all projects, so the %d projects are asked in turns: each about every %v", "サーバーが全プロジェクトの課題一覧を返さないため、%d 件のプロジェクトを順番に確認します (1 件につき約 %v ごと)"},
	"doctor.todo.turns": {"use webhooks, which are noticed at once, or projects of fewer groups", "すぐに反映される webhook を使うか、グループの数を減らしてください"},
}
