package i18n

// taskFileTexts are about tasks that are files of a directory.
var taskFileTexts = texts{
	"change.nopush": {"No branch was pushed. The change is in the patch below, and beside the log of this context.", "ブランチはプッシュしていません。変更は以下のパッチと、このコンテキストのログの隣にあります。"},

	"doctor.directory":         {"directory %s; open tasks: %d, with the label %q", "ディレクトリ %s、未完了のタスク: %d 件（ラベル %q）"},
	"doctor.directory.none":    {"the directory of the tasks, %s, is not there", "タスクのディレクトリ %s がありません"},
	"doctor.directory.medium":  {"the directory of the tasks, %s, is not on a local disk (%s): its locks cannot be trusted", "タスクのディレクトリ %s はローカルディスク上にありません (%s)。ロックを信頼できません"},
	"doctor.repository":        {"git can read the repository %s", "git がリポジトリ %s を読み取れます"},
	"doctor.todo.directory":    {"make the directory, or let this user write there", "ディレクトリを作成するか、このユーザーに書き込みを許可してください"},
	"doctor.todo.files.broken": {"correct the files that are named; the others are worked on", "名前の挙がったファイルを直してください。他のファイルは処理されます"},
	"doctor.todo.repository":   {"set `repository` to the git repository that the tasks are about", "`repository` に、タスクの対象となる git リポジトリを指定してください"},
}
