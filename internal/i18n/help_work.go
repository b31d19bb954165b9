package i18n

// helpWork is the help of the commands that work on tasks.
var helpWork = []pair{
	{"Work on what there is to do, then end", "対象のタスクを処理して終了"},
	{`run resumes contexts that did not end, picks up labelled items, works on them, and ends.
It is made for cron: several runs at the same time never do anything twice. With tasks
(a URL, or the uuid of a context or the beginning of one) it works on those only,
labelled or not. With --dry-run it says what it would do and why, and changes nothing,
neither here nor on the forge.

On a terminal each task has a line that says what it does now, with the finished steps
above. Ctrl-C ends it with 130: what was done is kept, and the next run goes on from there.
DEBUG=1 shows the program's own log, too.`,
		`終了していないコンテキストを再開し、ラベルの付いたアイテムに着手し、処理が済むと
終了します。cron での実行を想定しており、同時に複数起動しても同じ作業は
重複しません。タスク（URL、またはコンテキストの uuid かその先頭部分）を
指定すると、ラベルの有無に関わらず、それだけを処理します。--dry-run は
実行内容とその理由を表示するだけで、手元にもフォージにも変更を加えません。

端末では、タスクごとに現在の処理を 1 行で示し、その上に完了したステップを
並べます。Ctrl-C を押すと 130 で終了します。ここまでの作業は保存され、次回の
実行で続行します。DEBUG=1 を設定すると、プログラム自身のログも表示します。`},
	{"in a crontab", "crontab の例"},
	{"only say what would be done, and why", "実行内容とその理由を表示するのみ"},

	{"Do what run does, again and again", "run の処理を繰り返し実行"},
	{`loop does what run does every loop.interval_seconds (30 by default), and at once when
a command leaves a signal for it or a forge sends a hook (webhooks.listen). It ends at SIGTERM with 0, and at Ctrl-C with 130.`,
		`run と同じ処理を loop.interval_seconds（既定は 30 秒）ごとに行います。
コマンドによる要求や、フォージからの Webhook（webhooks.listen）があれば、直ちに
行います。SIGTERM では 0、Ctrl-C では 130 で終了します。`},
	{"seconds between two rounds (default: loop.interval_seconds)", "確認間隔の秒数（既定: loop.interval_seconds）"},

	{"Work on the directory you are in, without a forge", "フォージを使わず、現在のディレクトリで作業"},
	{`try works in a copy of the repository of the current directory, with files that are not
committed or not tracked, and without those that git ignores. A directory without git works,
too. Comments go to the terminal, where you can answer. At the end you see the diff and are
asked whether to apply it; without a terminal nothing is asked.

The model is that of the configuration. Without one it is that of the environment
(OPENAI_API_KEY, ANTHROPIC_API_KEY and the like), or of Ollama or LM Studio on this machine.

Exit codes: 0 completed, and applied as asked; 1 anything else; 2 usage; 78 configuration;
130 Ctrl-C. With --json the last line is one object: state, patch, files, tokens, cost_usd,
evidence, uuid.

--resume goes on with a try, or with a fork of one. If it has ended, --apply, --branch and
--patch take its change without asking the model.`,
		`現在のディレクトリのリポジトリをコピーし、その中で作業します。未コミットや
未追跡のファイルも含み、git が無視するファイルは含みません。git のない
ディレクトリでも使えます。コメントは端末に表示され、その場で返信できます。最後に
差分を示し、適用するかどうかを尋ねます。端末がない場合は何も尋ねません。

モデルは設定のものを使います。設定がなければ、環境変数（OPENAI_API_KEY、
ANTHROPIC_API_KEY など）で指定したもの、またはこのマシンの Ollama か
LM Studio を使います。

終了コード: 0 完了（指定があれば適用済み）、1 その他、2 使い方の誤り、78 設定の
問題、130 Ctrl-C。--json では、最後の行に 1 つのオブジェクトを出力します。項目は
state、patch、files、tokens、cost_usd、evidence、uuid です。

--resume は、try またはそのフォークを続行します。すでに終了していれば、モデルを
呼び出さずに、その変更を --apply、--branch、--patch のとおりに扱います。`},
	{"apply the change to the directory, unless its files were changed meanwhile", "変更をディレクトリに適用（ファイルがその間に変更されていなければ）"},
	{"make a branch with the change on top of the latest commit", "最新のコミットに変更を加えたブランチを作成"},
	{"read the task from this file", "タスクを読み込むファイル"},
	{"print one JSON object at the end", "最後に 1 つの JSON オブジェクトを出力"},
	{"write the change to this file", "変更を書き込むファイル"},
	{"go on with a try that was interrupted or waits: the uuid of its context, or its beginning",
		"中断または待機中の try を続行（コンテキストの uuid またはその先頭部分）"},

	{"Try again from the middle of a run", "実行の途中からやり直し"},
	{`fork makes a new context of the first events of another one: its conversation, its plan and
its files as they were after event SEQ (agent inspect shows the numbers), or at the end. The
fork is paused, and only agent run UUID works on it, or of a try agent try --resume UUID. The
other context may run, have ended, or be archived. Nothing of it changes.

A fork begins where no step is open and the end has not begun. If SEQ is no such event, it
begins at the nearest one before it. --drop-last N leaves out the last N turns of the model
before SEQ: their replies, their tool calls, and what those did to the files.

Comments, labels and pushes of a fork are not done. What the other context did as well has
the outcome that it recorded. Tools run for real, in a working copy of the fork's own.
With --live all is done for real, on the same task: the other context must have ended, or
is stopped first.`,
		`別のコンテキストの先頭からイベント SEQ まで（番号は agent inspect で
確認できます。省略時は最後まで）をもとに、新しいコンテキストを作ります。会話、
計画、ファイルは、その時点のものです。フォークは一時停止した状態で作られ、
agent run UUID（try のフォークは agent try --resume UUID）でのみ処理されます。
元のコンテキストは、実行中でも、終了していても、アーカイブ済みでもよく、
変更されません。

フォークは、途中の処理がなく、終了処理にも入っていないイベントから始まります。
SEQ がそうでない場合は、その手前の最も近いイベントから始まります。
--drop-last N は、SEQ より前にあるモデルの直近 N ターン（応答、ツール呼び出し、
それによるファイルの変更）を除きます。

フォークのコメント、ラベル、プッシュは実行されません。元のコンテキストも行った
操作には、そこに記録された結果を使います。ツールは、フォーク専用の作業コピーで
実際に動きます。--live を付けると、同じタスクに対してすべてを実際に行います。
元のコンテキストが終了していなければ、先に停止します。`},
	{"begin after event `SEQ` (default: the latest)", "イベント `SEQ` の直後から開始（既定: 最後のイベント）"},
	{"leave out the last `N` turns of the model before that", "その前にあるモデルの直近 `N` ターンを除外"},
	{"write to the task for real", "タスクへの書き込みを実際に実行"},
	{"ask this `MODEL` from there on; PROVIDER:MODEL for one of llm.fallback",
		"以後は `MODEL` を使用（llm.fallback のものは PROVIDER:MODEL）"},
	{"`TEXT` that the model reads as a comment", "コメントとしてモデルに渡す `TEXT`"},
	{"take the system prompt from `FILE` from there on", "以後のシステムプロンプトを `FILE` から読み込み"},
	{"with --live: do not ask before the other context is stopped", "--live で元のコンテキストを停止する際の確認を省略"},

	{"Pause tasks", "タスクを一時停止"},
	{`pause leaves a signal: the agent that works on the task finishes the tool call in
flight, says so on the task, and pauses it until agent resume.`,
		`一時停止を要求します。タスクを処理中のエージェントは、実行中のツール呼び出しを
終えてからタスクにその旨を書き、agent resume まで一時停止します。`},
	{"everything that is being worked on", "処理中のすべてのタスク"},

	{"Let paused tasks go on at the next run", "一時停止中のタスクを次回の実行で再開"},
	{`resume leaves a signal that the next run or the running loop takes. Where a limit was
reached it grants the same amount once more, or what --add says.`,
		`再開を要求します。次回の実行または動作中の loop が再開します。上限に達していた
場合は同じ量を、--add を指定した場合はその量を追加します。`},
	{"how much of the reached limit to grant", "達した上限に追加する量"},
	{"everything that is paused", "一時停止中のすべてのタスク"},

	{"End tasks for good", "タスクを停止（再開不可）"},
	{`stop leaves a signal: the task ends with a comment, its stopped label, and a summary.
No run takes a try, so stop ends it at once. If the task's forge is not configured any more,
the next run ends the task and writes nothing there.`,
		`停止を要求します。タスクは、コメント、停止のラベル、要約を残して終了します。
try は run では処理されないため、直ちに終了します。タスクのフォージが設定から
外れている場合は、次回の実行で、フォージには何も書かずに終了します。`},
	{"said on the task", "タスクに書く理由"},
}
