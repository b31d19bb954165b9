package i18n

// notifyTexts are those of notifications.
var notifyTexts = texts{
	"notify.paused":             {"Paused", "一時停止"},
	"notify.approval":           {"Approval needed", "承認が必要"},
	"notify.failed":             {"Failed", "失敗"},
	"notify.completed":          {"Completed", "完了"},
	"notify.limit":              {"Limit reached", "上限に到達"},
	"notify.test":               {"Test", "テスト"},
	"notify.change":             {"Change: %s", "変更: %s"},
	"notify.test.title":         {"agent can reach you here", "agent からの通知が届いています"},
	"notify.test.reason":        {"Sent by agent notify test. No task is concerned.", "agent notify test による送信です。タスクとは関係ありません。"},
	"notify.sent":               {"sent: %s", "送信しました: %s"},
	"notify.none":               {"the configuration has no notify section: nobody is told of anything", "設定に notify がありません。通知は送信されません"},
	"doctor.check.notify":       {"notify", "通知"},
	"doctor.notify":             {"%s is told of: %s (agent notify test tries it)", "%s への通知対象: %s (agent notify test で試せます)"},
	"doctor.notify.program":     {"%s cannot be run: %v", "%s を実行できません: %v"},
	"doctor.todo.notify":        {"correct the program in notify: it must exist and be executable", "notify のプログラムを修正してください (存在し、実行可能であること)"},
	"doctor.notify.unencrypted": {"%s gets its messages unencrypted", "%s へのメッセージは暗号化されません"},
	"doctor.todo.notify.https":  {"use https", "https を使用してください"},
}
