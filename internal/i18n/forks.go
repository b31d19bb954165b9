package i18n

// forkTexts are about forks of contexts.
var forkTexts = texts{
	"fork.made":         {"%s is a fork of %s at event %d.", "%s は %s のイベント %d からのフォークです。"},
	"fork.moved.open":   {"At event %d a step was open (%s). The fork begins before it.", "イベント %d では処理（%s）が途中でした。フォークはその手前から始まります。"},
	"fork.moved.ending": {"At event %d the run was already ending. The fork begins before that.", "イベント %d では実行が終了処理に入っていました。フォークはその手前から始まります。"},
	"fork.dropped":      {"It lacks the last %d turns of the model.", "モデルの直近 %d ターンは含まれません。"},
	"fork.simulated":    {"Comments, labels and pushes are not done. Tools run for real, in a working copy of its own.", "コメント、ラベル、プッシュは実行されません。ツールは専用の作業コピーで実際に動きます。"},
	"fork.live":         {"It works on %s itself: comments, labels and pushes are real.", "%s そのものを扱います。コメント、ラベル、プッシュは実際に行われます。"},
	"fork.unsaved":      {"These files were not saved, and are missing or older in its working copy: %s", "次のファイルは保存されていないため、作業コピーには無いか古い内容です: %s"},
	"fork.next":         {"Run it:      agent run %s", "実行:   agent run %s"},
	"fork.next.try":     {"Run it:      agent try --resume %s", "実行:   agent try --resume %s"},
	"fork.compare":      {"Compare it:  agent diff %s %s", "比較:   agent diff %s %s"},
	"fork.ask":          {"%s still works on %s. A live fork stops it for good, with a comment and its label. Go on? [y/N] ", "%s はまだ %s を処理中です。ライブフォークを作るとコメントとラベルを付けて停止し、再開できません。続けますか？ [y/N] "},
	"fork.stopping":     {"Stopping %s.", "%s を停止しています。"},
	"fork.of":           {"fork of %s at %d", "%s のイベント %d からのフォーク"},
	"fork.not_done":     {"not done: this is a fork", "実行していません（フォークのため）"},
	"fork.recorded":     {"not done: this is a fork; its origin did the same", "実行していません（フォークのため。元の実行では行われました）"},
	"fork.summary":      {"This is a fork of %s at event %d. What it would have written to the task was not done.", "これは %s のイベント %d からのフォークです。タスクへの書き込みは実行していません。"},
	"why.fork":          {"  it is a fork of %s at event %d", "  %s のイベント %d からのフォークです"},
	"why.notdone":       {"  writes to the task: %d, not done: this is a fork", "  タスクへの書き込み: %d 件（フォークのため実行していません）"},
	"why.forked":        {"it is a fork, which a person runs: `agent run`", "フォークであり、`agent run` で実行されるのを待っています"},
	"skip.fork":         {"a fork of an earlier attempt works on it: agent run %s", "以前の試行のフォークが担当しています: agent run %s"},
	"signal.fork":       {"%s is a fork, which no round takes. agent run %[1]s goes on with it.", "%s はフォークなので、自動では処理されません。agent run %[1]s で続行します。"},
	"forget.fork":       {"%s is a fork of it and holds the same texts up to event %d. It stays: agent forget removes it, too.", "%s はそのフォークで、イベント %d までの同じ文章を含みます。これは残ります。削除するには agent forget を使ってください。"},
}
