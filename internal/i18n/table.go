package i18n

// ID names a text.
type ID string

type pair struct{ en, ja string }

var table = map[ID]pair{
	// Comments on the task.
	"done.head":      {"✅ **Done**", "✅ **完了しました**"},
	"done.empty":     {"The model gave no closing words.", "モデルからの最終コメントはありませんでした。"},
	"limit.head":     {"⚠️ **Finished: the limit of %d model calls was reached.** The work may be incomplete.", "⚠️ **LLM呼び出し回数の上限（%d回）に達したため終了しました。** 作業が完了していない可能性があります。"},
	"failed.head":    {"❌ **Failed**", "❌ **失敗しました**"},
	"stopped.head":   {"⏹️ **Stopped**", "⏹️ **停止しました**"},
	"paused.head":    {"⏸️ **Paused**", "⏸️ **一時停止しました**"},
	"resumed.head":   {"▶️ **Resumed.** New comments are taken into account.", "▶️ **再開しました。** 新しいコメントを考慮して続行します。"},
	"progress.head":  {"🤖 **Working on it**", "🤖 **作業中です**"},
	"progress.count": {"Model calls: %d · tool calls: %d", "LLM呼び出し: %d回 · ツール呼び出し: %d回"},
	"reason":         {"Reason: %s", "理由: %s"},
	"change":         {"Change: %s", "変更: %s"},
	"change.failed":  {"The change could not be published; it is kept in the working copy.", "変更を公開できませんでした。作業コピーに保存されています。"},
	"facts":          {"What was run and changed", "実行・変更した内容"},
	"facts.files":    {"Files written: %s", "書き込んだファイル: %s"},
	"facts.command":  {"%s → exit code %s", "%s → 終了コード %s"},
	"facts.none":     {"No command was run, so nothing above was checked by running it.", "コマンドは実行されていないため、上記の内容は実行による確認がされていません。"},
	"facts.usage":    {"Model calls: %d · tool calls: %d · tokens: %d · context %s", "LLM呼び出し: %d回 · ツール呼び出し: %d回 · トークン: %d · コンテキスト %s"},
	"cut":            {"\n\n[… cut: the whole text is in the context's log …]", "\n\n[… 省略: 全文はコンテキストのログにあります …]"},

	// Why a context failed, stopped or paused.
	"why.unusable_replies": {"five replies of the model in a row could not be used", "モデルの応答が5回連続で解釈できませんでした"},
	"why.workspace":        {"the working copy could not be prepared", "作業コピーを準備できませんでした"},
	"why.model":            {"the model refused the request", "モデルがリクエストを拒否しました"},
	"why.requested":        {"a person asked for it. Remove the signal or run `agent resume` to go on", "ユーザーの要求による一時停止です。シグナルを削除するか `agent resume` で再開できます"},
	"why.limit":            {"the limit of %s was reached. `agent resume` grants the same amount once more", "上限（%s）に達しました。`agent resume` で同じ量を追加して再開できます"},
	"why.repeated_call":    {"the model repeated the same tool call. `agent resume` lets it go on", "モデルが同じツール呼び出しを繰り返しました。`agent resume` で再開できます"},
	"why.labels":           {"the labels could not be changed; give the token the right to do so, then run `agent resume`", "ラベルを変更できませんでした。トークンに権限を与えてから `agent resume` で再開してください"},
	"why.model_person":     {"the model server refuses us; check the key and the model's name, then run `agent resume`", "モデルサーバーに拒否されました。キーとモデル名を確認し、`agent resume` で再開してください"},
	"why.model_time":       {"the model does not answer at the moment. The work goes on by itself after %s UTC", "現在モデルが応答しません。%s UTC 以降に自動で再開します"},
	"stop.command":         {"a person ran `agent stop`", "ユーザーが `agent stop` を実行しました"},
	"stop.closed":          {"the item was closed", "アイテムがクローズされました"},
	"stop.gone":            {"the item is gone", "アイテムが見つかりません"},
	"stop.unassigned":      {"the agent was unassigned", "エージェントの担当が解除されました"},
	"stop.label_removed":   {"the processing label was removed", "処理中ラベルが外されました"},
	"stop.expired":         {"it was paused for too long", "一時停止の期限が切れました"},

	// Messages to the model that people read too.
	"task.head":       {"# Task: %s", "# タスク: %s"},
	"task.by":         {"From @%s, %s", "投稿者: @%s, %s"},
	"task.empty":      {"(no description)", "（本文なし）"},
	"task.comments":   {"## Comments so far (user comments, oldest first)", "## これまでのコメント（ユーザーからのコメント、古い順）"},
	"task.edited":     {"The task was edited since you read it. It says now:", "タスクの本文が編集されました。現在の内容:"},
	"comments.head":   {"[New comments from users]\nThese comments were added since you last looked:", "[再開時の新規コメント通知]\n一時停止中に以下の新しいコメントが追加されました:"},
	"comments.foot":   {"Take these comments into account and go on with the task.", "上記のコメントを考慮してタスクを継続してください。"},
	"comments.author": {"Author: @%s", "投稿者: @%s"},
	"comments.time":   {"Time: %s UTC", "日時: %s UTC"},
	"comments.body":   {"Text:", "内容:"},
	"comments.edited": {"(edited since you read it)", "（読み込み後に編集されました）"},
	"comments.more":   {"There are %d more comments.", "他に %d 件のコメントがあります"},

	// The summary that the next go inherits.
	"summary.goal":   {"Goal: %s", "目的: %s"},
	"summary.end":    {"Ended: %s", "結果: %s"},
	"summary.words":  {"Closing words: %s", "最終コメント: %s"},
	"summary.files":  {"Files written: %s", "書き込んだファイル: %s"},
	"summary.tools":  {"Latest tool calls:", "直近のツール呼び出し:"},
	"summary.marked": {"(computed from the log)", "（ログから算出）"},
	"summary.change": {"Change: %s", "変更: %s"},
	"change.title":   {"%s (#%d)", "%s (#%d)"},
	"change.body":    {"For %s.\n\n%s", "対象: %s\n\n%s"},

	// The demo.
	"demo.intro":     {"A git repository with a failing test, a forge and a model are started on this machine. Nothing leaves it.", "失敗するテストを含むgitリポジトリ、フォージ、モデルをこのマシン上で起動します。外部との通信はありません。"},
	"demo.issue":     {"1. Somebody opens an issue and labels it", "1. 誰かがIssueを作成し、ラベルを付けます"},
	"demo.run":       {"2. cron starts the agent", "2. cronがエージェントを起動します"},
	"demo.kill":      {"3. kill -9, in the middle of a model call", "3. LLM呼び出しの途中で kill -9 します"},
	"demo.killed":    {"killed; the issue is still labelled: %s", "強制終了しました。Issueのラベル: %s"},
	"demo.again":     {"4. cron starts the agent again: it goes on where it was", "4. cronが再びエージェントを起動し、続きから再開します"},
	"demo.outcome":   {"5. What the people on the issue see", "5. Issueの参加者に見えるもの"},
	"demo.labels":    {"labels: %s", "ラベル: %s"},
	"demo.by":        {"%s wrote:", "%s のコメント:"},
	"demo.branch":    {"6. The pushed branch, tested by us", "6. プッシュされたブランチを確認します"},
	"demo.replay":    {"7. agent replay: every decision, made again from the log", "7. agent replay: ログからすべての判断を再現します"},
	"demo.timeline":  {"8. agent inspect: what happened, and why", "8. agent inspect: 何が、なぜ起きたか"},
	"demo.kept":      {"everything is kept in %s", "すべてのファイルは %s に残っています"},
	"demo.title":     {"Sum forgets the last number", "合計が最後の数を忘れる"},
	"demo.body":      {"`sum.Of(1, 2, 3)` gives 3, but it should give 6. The test shows it.", "`sum.Of(1, 2, 3)` は 6 になるはずですが、3 になります。テストで再現できます。"},
	"demo.comment":   {"Please leave the test as it is.", "テストは変更しないでください。"},
	"demo.say.test":  {"I run the tests first to see the failure.", "まずテストを実行して失敗を確認します。"},
	"demo.say.read":  {"The test fails; I read the function.", "テストが失敗するので、関数を確認します。"},
	"demo.say.look":  {"A call was interrupted; I look at the file before I go on.", "呼び出しが中断されたため、ファイルを確認します。"},
	"demo.say.fix":   {"The loop ends one number too early; I fix its condition.", "ループが1つ早く終わっているので、条件を修正します。"},
	"demo.say.check": {"I run the tests again.", "もう一度テストを実行します。"},
	"demo.say.done":  {"`Of` stopped one number too early. I corrected the loop's condition in `sum.go`; the test is unchanged and passes now.", "`Of` のループが1つ早く終わっていました。`sum.go` の条件を修正しました。テストは変更せず、成功することを確認しました。"},
}
