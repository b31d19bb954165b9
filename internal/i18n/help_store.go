package i18n

// helpStore is the help of the commands that look after the contexts.
var helpStore = []pair{
	{"Check logs: every byte, the hash chain, every blob", "ログを検査（全バイト、ハッシュチェーン、全ブロブ）"},
	{`verify checks every byte of the logs, their hash chains, every blob, the saved files, owners
and modes, and whether the projection files are what the logs say. With --head it also
holds one log against the hash that the agent's last comment on the task names: then nothing
up to that event was changed since the comment was written.`,
		`ログの全バイト、ハッシュチェーン、全ブロブ、保存されたファイル、所有者と権限、
プロジェクションファイルとログの一致を検査します。--head を付けると、
エージェントがタスクに書いた最後のコメントのハッシュと、1 つのログを照合します。
一致すれば、そのイベントまでのログは、コメントの投稿後に変更されていません。`},
	{"EVENT:SHA256 as a comment names it", "コメントに記載された EVENT:SHA256"},

	{"Keep what is valid of a damaged log", "破損したログの有効な部分を残して修復"},
	{`repair keeps the events before the damage, sets the damaged log aside whole, and records
what was given up. Saved files that cannot be read are given up alone, and every event is kept.
It does nothing to a context that is not damaged.`,
		`破損箇所より前のイベントを残し、破損したログ全体を退避して、破棄した内容を
記録します。読み取れないのが保存ファイルだけの場合は、そのファイルだけを破棄し、
イベントはすべて残します。破損していないコンテキストには何もしません。`},
	{"give up what cannot be read", "読み取れない部分を破棄"},

	{"Rebuild the projection files from the logs", "ログからプロジェクションファイルを再作成"},
	{"the index of the contexts", "コンテキストのインデックス"},

	{"Archive old contexts, and remove what is too old", "古いコンテキストをアーカイブし、期限を過ぎたものを削除"},
	{`gc packs the logs of contexts that ended context_storage.archive_after_days ago (every
command still reads them), removes contexts that ended context_storage.cleanup_days ago,
lock files and caches that nobody needs, working copies whose work is published, and those of contexts
that ended archive_after_days ago otherwise; what these hold stays as change.patch beside
the log. It never touches a context that runs or is paused, and keeps the one that the next
attempt at its task inherits from. It makes projection files again that could not be
saved for want of room. run and loop do the same once a day.`,
		`終了から context_storage.archive_after_days 日たったコンテキストのログを
アーカイブします（その後もすべてのコマンドで読めます）。終了から
context_storage.cleanup_days 日たったコンテキスト、不要になったロックファイルと
キャッシュ、成果を公開済みの作業コピーは削除します。それ以外の作業コピーも、
終了から archive_after_days 日たつと削除し、内容を change.patch としてログと同じ
場所に残します。実行中・一時停止中のコンテキストには触れず、同じタスクの次の
試行が引き継ぐコンテキストも残します。空き容量が足りず保存できなかった
プロジェクションファイルは再作成します。run と loop も、1 日に 1 回、同じ処理を
行います。`},
	{"only say what would be done, and with which contexts", "実行内容と対象のコンテキストを表示するのみ"},

	{"Remove a context, and what later ones have from it", "コンテキストと、後続が引き継いだ内容を削除"},
	{`forget removes a context that has ended, or a paused fork (the uuid or the beginning of one), or all those
of a task (a URL), with everything in it. From the later contexts of its task it removes
every text that was made of its words: what they inherited from it, directly or by way of
others, what they looked up in its history, and their own summaries since then, so that
they pass nothing on. Their logs stay valid, and say that a text was forgotten.

What it leaves: a later context's own turns (replies of the model, calls and what tools
answered, comments, plans), which may repeat words; what was posted on the forge; and the
program's own log. A fork of it holds the same texts and stays; it is named. To remove these turns too, forget the later contexts, or the task.

On a terminal it says what it would remove and asks; --yes does not ask.`,
		`終了したコンテキストや一時停止中のフォーク（uuid またはその先頭部分で指定）を、
内容ごと削除します。タスクの URL を指定すると、そのタスクのすべてが対象です。
同じタスクの後続のコンテキストからも、削除する内容から作られたテキスト
（直接または間接に引き継いだもの、履歴で調べたもの、それ以降の自身の
要約）をすべて削除し、以後引き継がれないようにします。後続のログは有効なままで、
テキストを削除したことが記録されます。

次のものは残ります: 後続のコンテキスト自身のターン（モデルの応答、呼び出しと
ツールの結果、コメント、計画。同じ文言を含むことがあります）、フォージに投稿した
内容、プログラム自身のログ。同じテキストを含むフォークも残り、その名前を
表示します。これらのターンも削除するには、後続のコンテキストまたはタスクも
指定してください。

端末では、削除する内容を示して確認を求めます。--yes を付けると確認しません。`},
	{"only say what would be removed", "削除の対象を表示するのみ"},
	{"do not ask", "確認を省略"},

	{"Bring contexts into a cluster, or out of it", "コンテキストをクラスターに登録、またはクラスターから書き出し"},

	{"Give the cluster the contexts of a machine that worked alone", "単独で動いていたマシンのコンテキストをクラスターに登録"},
	{`import gives the cluster the contexts of DIR, the contexts_dir of another machine, or those of
this machine: the paused ones, which go on in the cluster, and those that have ended. One that
runs, is damaged, or was commented with another key than the cluster's is left out and
named; the exit code is 1 then. Nothing in DIR changes, and to import it again is no harm.`,
		`DIR（別のマシンの contexts_dir）、または省略時はこのマシンのコンテキストを、
クラスターに登録します。対象は、一時停止中のもの（クラスターで続行します）と
終了したものです。実行中のもの、破損したもの、コメントの鍵がクラスターと
異なるものは、対象外として表示します。その場合の終了コードは 1 です。DIR の
内容は変更しません。登録済みのものをもう一度登録しても問題ありません。`},

	{"Write the contexts of the cluster into a directory", "クラスターのコンテキストをディレクトリに書き出し"},
	{`export writes what the cluster has into DIR: all logs, the texts and files that they name, and
the key of the comments. It is a backup, which export brings up to date when it is called again, and
a contexts_dir with which one machine can go on alone. Stop all workers before it does.`,
		`クラスターの内容（すべてのログ、ログが参照するテキストとファイル、コメントの
鍵）を DIR に書き出します。バックアップとして使え、もう一度実行すると最新の
状態になります。また、1 台のマシンで作業を続けるための
contexts_dir にもなります。その場合は、先にすべてのワーカーを停止してください。`},
}
