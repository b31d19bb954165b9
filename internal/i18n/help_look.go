package i18n

// helpLook is the help of the commands that show what happened.
var helpLook = []pair{
	{"Show all contexts, the newest first", "すべてのコンテキストを新しい順に表示"},
	{"only contexts in this state: running interrupted paused awaiting completed stopped failed damaged",
		"この状態のみ: running interrupted paused awaiting completed stopped failed damaged"},

	{"Show how things stand", "現在の状況を表示"},
	{`status shows the contexts that did not end, what the paused ones wait for, today's
spending, and when each forge was scanned last.

With --check it prints one line, and its exit code is for a supervisor:
  0   the agent works. A task that waits for its people is no fault of it.
  1   it does not: a forge was not scanned for three times the usual distance of scans
      (5 minutes at least, or --max-age), the model server does not answer or refuses the
      key, or tasks are left on a forge that is not configured any more.
  65  it works, but a context is damaged. A restart does not help; agent verify and
      agent repair do.
It looks at the live contexts and the 1,000 that ended last, and knows what rounds and agent
verify found damaged of the others: rounds read each of those once a day.`,
		`終了していないコンテキスト、一時停止中のものが待っている内容、本日の使用量、
各フォージを最後に確認した時刻を表示します。

--check を付けると 1 行だけを表示し、監視用の終了コードで終了します:
  0   正常です。関係者の対応を待つタスクは、異常とみなしません。
  1   異常です。通常の間隔の 3 倍（5 分以上、または --max-age）を超えて
      確認されていないフォージがある、モデルサーバーが応答しないかキーを
      拒否している、または設定にないフォージのタスクが残っています。
  65  動作していますが、破損したコンテキストがあります。再起動では直りません。
      agent verify と agent repair を使ってください。
調べるのは、終了していないコンテキストと、最近終了した 1,000 件です。
それ以外は、agent run と agent loop（各コンテキストを 1 日に 1 回読みます）、
agent verify が見つけた破損を報告します。`},
	{"one line, and an exit code for a supervisor", "1 行の表示と監視用の終了コード"},
	{"how old the latest successful scan of a forge may be (default: three times the usual distance)",
		"フォージの最後の正常な確認からの許容時間（既定: 通常の間隔の 3 倍）"},
	{"print the figures in Prometheus' text format, for its textfile collector",
		"Prometheus のテキスト形式で出力（textfile コレクター用）"},

	{"Say why a task was taken, left, paused or ended", "タスクの着手・見送り・一時停止・終了の理由を表示"},
	{`why tells from the logs and from what the rounds saw why a task was picked up, skipped
or ignored, what it waits for, how it ended, what went wrong last, and which comments were
not taken as input. TASK is a URL, or the uuid of a context or the beginning of one.`,
		`ログと実行時の記録から、タスクに着手した理由、見送った理由、対象外とした理由、
待っている内容、終わり方、最後の失敗、入力として扱わなかったコメントを示します。
TASK には URL、またはコンテキストの uuid かその先頭部分を指定します。`},

	{"Show what happened in a context, and why", "コンテキストの経過と理由を表示"},
	{`inspect prints one line for each event of a context's log. With SEQ it shows that event
whole, and with it what it led to or came from: a tool call and its output, a request
and its reply. --conversation shows what the model read and wrote, and where the work
paused or broke off; --costs what each model call took, by phase and action, and in all.
It never writes, also not to a damaged log: it shows what can be read around the damage
and exits with 65. Without a CONTEXT it prints what agent list prints.`,
		`コンテキストのログを、1 イベント 1 行で表示します。SEQ を指定すると、その
イベントの全体を、対になるイベントとともに表示します（ツール呼び出しとその出力、
リクエストと応答）。--conversation は、モデルが読んだ内容と書いた内容、作業の
一時停止や中断の箇所を表示します。--costs は、各モデル呼び出しの消費量を、
フェーズとアクションごとの小計、全体の合計とともに表示します。書き込みは
一切行いません。破損したログでは、読み取れる部分を表示して 65 で終了します。
CONTEXT を省略すると、agent list と同じ内容を表示します。`},
	{"event 42 whole: a tool call with its output", "イベント 42 の全体（ツール呼び出しと出力）"},
	{"what went wrong", "失敗した箇所"},
	{"tokens, money and time of each model call", "モデル呼び出しごとのトークン・費用・時間"},
	{"the request as it was sent, made again from the log", "送信したリクエスト（ログから再現）"},
	{"follow it while it runs", "実行中のログに追従"},
	{"one file for a browser: timeline, files, conversation, costs", "ブラウザー用の 1 ファイル（経過、ファイル、会話、費用）"},
	{"show the messages to and from the model", "モデルとのメッセージを表示"},
	{"show tokens, money and time of each model call, and their sums", "モデル呼び出しごとのトークン・費用・時間と合計を表示"},
	{"only what failed: calls, commands with another exit code than 0, writes, limits",
		"失敗のみを表示: 呼び出し、終了コードが 0 以外のコマンド、書き込み、上限"},
	{"go on as the log grows, until Ctrl-C", "ログに追従（Ctrl-C で終了）"},
	{"do not shorten lines", "行を省略せずに表示"},
	{"only events whose data match this regular expression", "データがこの正規表現に一致するイベントのみ"},
	{"write a page with all of it to `FILE`, which needs no network (- is standard output)",
		"全体を 1 ページにして `FILE` に出力（閲覧にネットワーク不要、- は標準出力）"},
	{`print the log's lines; control and invisible characters as \u escapes`, `ログの行を出力（制御文字と不可視文字は \u でエスケープ）`},
	{"only events of this phase of planning", "計画のこのフェーズのイベントのみ"},
	{"show the model request of event `SEQ` as it was sent", "イベント `SEQ` のモデルへのリクエストを送信時のまま表示"},
	{"only events of this age (24h, 7d) or from this day (2026-11-27) on",
		"この期間内（24h、7d）またはこの日（2026-11-27）以降のイベントのみ"},
	{"only events of these types, such as tool.replied, tool or *.failed",
		"これらの種類のイベントのみ（tool.replied、tool、*.failed など）"},

	{"Browse contexts, in the terminal or as web pages", "コンテキストを端末または Web ページで閲覧"},
	{`ui shows the contexts in the terminal, each as a timeline with what lies behind every row:
messages, calls and their outputs, changes of files, comments, plans. It follows a context that
runs. ? shows the keys. With a question it pauses, resumes, stops and forks, as the commands
of these names do. Without a terminal it prints what agent list or, of a CONTEXT, agent
inspect prints.

ui --serve shows the contexts as web pages: a list, a context that grows while it runs, two
beside each other, and statistics. It only reads. Anybody who can reach the address can
look, so beyond loopback it needs a token and a certificate; on a machine that others use,
give it a token, too.`,
		`コンテキストを端末で閲覧します。コンテキストは時系列で表示し、各行の内容
（メッセージ、呼び出しとその出力、ファイルの変更、コメント、計画）を開けます。
実行中のコンテキストには追従します。? でキー一覧を表示します。一時停止、再開、
停止、フォークも、確認のうえ、同じ名前のコマンドと同様に行えます。端末がない
場合は agent list と同じ内容を、CONTEXT を指定すれば agent inspect と同じ内容を
出力します。

ui --serve は、コンテキストを Web ページで表示します。一覧、実行中も更新される
コンテキスト、2 つを並べた比較、集計があり、閲覧専用です。アドレスに接続できる
人は誰でも見られるため、ループバック以外ではトークンと証明書が必要です。他の人も
使うマシンでは、ループバックでもトークンを設定してください。`},
	{"serve web pages at `HOST:PORT`; port 0 is any that is free", "`HOST:PORT` で Web ページを提供（ポート 0 は空きポート）"},
	{"`FILE` with the certificate", "証明書の `FILE`"},
	{"`FILE` with its key", "証明書の秘密鍵の `FILE`"},
	{"`FILE` with the token that a visitor must give", "閲覧に必要なトークンの `FILE`"},

	{"Show what a run changed, step by step, or how two runs differ", "実行による変更（ステップごとも可）、または 2 つの実行の違いを表示"},
	{`diff compares the files of a context at two of its events: by default when the work began
and at its end. It reads the log and what lies beside it, so it also works when the clone is
gone and the forge cannot be reached. What it prints is a patch, in which text that
looks like a secret is redacted.

With two contexts it says where the runs part, compares their ends, calls, tokens, money,
time and commands, and shows how the files differ.`,
		`コンテキストの 2 つのイベント時点のファイルを比較します。既定では作業の開始時と
終了時です。ログと付随するデータだけを読むため、クローンが残っていなくても、
フォージに接続できなくても使えます。出力はパッチ形式で、秘密情報らしき文字列は
伏せます。

コンテキストを 2 つ指定すると、実行がどこで分かれたかを示し、終わり方、
呼び出し、トークン、費用、時間、コマンドを比較して、ファイルの差分を表示します。`},
	{"what the run changed", "実行による変更"},
	{"what it had changed at event 42", "イベント 42 までの変更"},
	{"each step with what it changed", "各ステップとその変更"},
	{"two attempts at a task", "同じタスクの 2 つの試行"},
	{"compare the beginning with event `SEQ`", "開始時とイベント `SEQ` の時点を比較"},
	{"begin at event `SEQ`", "比較元のイベント `SEQ`"},
	{"only the numbers of lines", "行数のみを表示"},
	{"show each step with what it changed", "各ステップとその変更を表示"},
	{"end at event `SEQ`", "比較先のイベント `SEQ`"},

	{"Show the files that a context had at an event", "指定したイベント時点のファイルを表示"},
	{`files lists the working copy as it was at an event, the last one without --at. With PATH it
prints what that file held. It reads the log and what lies beside it: of files and
directories that no step changed only the names are known. Text that looks like a secret
is redacted.`,
		`イベント時点の作業コピーのファイルを一覧表示します。--at を省略すると、最後の
イベントの時点です。PATH を指定すると、そのファイルの内容を表示します。ログと
付随するデータから読むため、どのステップでも変更されていないファイルと
ディレクトリは名前しか分かりません。秘密情報らしき文字列は伏せます。`},

	{"Write the files that a context had at an event", "指定したイベント時点のファイルを書き出し"},
	{`restore writes the working copy as it was at an event, the last one without --at, into a
directory that is empty or not there. What no step changed comes from the commit that the
work began on: from the clone if it is still there, else from the forge. If the commit
cannot be had, only the files that steps changed are written; restore names the others and
exits with 1. Text that looks like a secret is taken out.`,
		`イベント時点の作業コピーを、空のディレクトリか新しいディレクトリに書き出します。
--at を省略すると、最後のイベントの時点です。どのステップでも変更されていない
ファイルは、作業の起点のコミットから取得します。クローンが残っていればそこから、
なければフォージからです。コミットを取得できない場合は、各ステップが変更した
ファイルだけを書き出し、残りのファイル名を表示して 1 で終了します。
秘密情報らしき文字列は除去します。`},
	{"directory that the files go to", "書き出し先のディレクトリ"},

	{"Find text in all logs, including archived ones", "すべてのログ（アーカイブ済みを含む）を検索"},
	{`search prints one line for each event that contains the text: the beginning of the context's
uuid, the event's number, time and type, and the text around the match. With --regexp the
text is a regular expression (RE2), matched against the event's data as stored: JSON, with
"\n" for the end of a line. It exits with 1 if nothing matches.`,
		`TEXT を含むイベントを 1 行ずつ表示します。各行には、コンテキストの uuid の
先頭部分、イベントの番号・時刻・種類、一致箇所の前後を示します。--regexp を
付けると、TEXT を正規表現（RE2）として、保存されたままのデータ（JSON、改行は
"\n"）と照合します。一致がなければ 1 で終了します。`},
	{"the text is a regular expression", "TEXT は正規表現"},
	{"only events since then: a day in UTC (2026-11-27), a time in RFC 3339, or an age such as 36h or 7d",
		"これ以降のイベントのみ: UTC の日付（2026-11-27）、RFC 3339 の時刻、36h や 7d などの期間"},
	{"only in this task (URL) or context", "このタスク（URL）またはコンテキストのみ"},
	{"only in events of this type, such as tool.replied, tool or *.failed; may be repeated",
		"この種類のイベントのみ（tool.replied、tool、*.failed など。複数指定可）"},
	{"only events until then, in the same forms", "これまでのイベントのみ（形式は --since と同じ）"},

	{"Write a context in the format of another program", "コンテキストを他のプログラムの形式で出力"},
	{`export writes a context to standard output or a file. Everything is redacted once more, with
the secrets of the configuration as it is now.

  jsonl      the log's lines, with the texts that lie beside it
  markdown   what the context is about, and its conversation
  html       the page of agent inspect --html
  otlp       OpenTelemetry spans in JSON, one request a line: for the collector's OTLP JSON
             file receiver. Without texts, unless --content or telemetry.content asks for them
  atif       a trajectory for evaluations and training (Harbor, ATIF 1.7)`,
		`コンテキストを標準出力またはファイルに出力します。その際、現在の設定にある
秘密情報を改めて伏せます。

  jsonl      ログの行と、付随するテキスト
  markdown   コンテキストの概要と会話
  html       agent inspect --html のページ
  otlp       JSON 形式の OpenTelemetry スパン。1 行に 1 リクエスト、コレクターの
             OTLP JSON File Receiver 用。テキストは --content または
             telemetry.content を指定した場合のみ
  atif       評価・学習用の軌跡（Harbor、ATIF 1.7）`},
	{"spans with their texts: prompts, replies, arguments, outputs", "テキスト（プロンプト、応答、引数、出力）を含むスパン"},
	{"post the spans to `URL` instead, with telemetry.headers", "スパンを telemetry.headers 付きで `URL` に送信"},
	{"atif | html | jsonl | markdown | otlp", "形式: atif|html|jsonl|markdown|otlp"},
	{"write to `FILE`, which only you can read", "`FILE` に出力（他のユーザーは読み取り不可）"},

	{"Count runs, outcomes, tokens, money and time", "実行・結果・トークン・費用・時間を集計"},
	{`stats adds up all logs: contexts begun and how they ended, model calls, tokens, money, and
the time in which the agent worked. A damaged log counts up to its damage. What each call
of one context took: agent inspect CONTEXT --costs.`,
		`すべてのログから、開始したコンテキストとその結果、モデル呼び出し、トークン、
費用、稼働時間を集計します。破損したログは、破損箇所の手前までを数えます。1 つの
コンテキストの呼び出しごとの内訳は、agent inspect CONTEXT --costs で
確認できます。`},
	{"the dearest first; or context", "費用の高い順（context も可）"},
	{"one of repo, task, context, model, day, phase, tool",
		"集計単位: repo|task|context|model|day|phase|tool"},
	{"print the numbers as one JSON object", "集計を 1 つの JSON オブジェクトで出力"},
	{"leave out what is older: 24h, 7d, or a day (UTC) such as 2026-11-27",
		"これより古いものを除外（24h、7d、2026-11-27 などの UTC の日付）"},

	{"Re-run every decision and compare it with the log", "すべての判断をやり直し、ログと比較"},
	{`replay folds every prefix of the log, decides again, and compares: each decision, the
SHA-256 of each model request, and the projection files. It calls nothing outside and
writes nothing. A log that was changed is refused with the place of the change.`,
		`ログを先頭から 1 イベントずつたどって判断をやり直し、各判断、モデルへの
各リクエストの SHA-256、プロジェクションファイルを比較します。外部の呼び出しも
書き込みも行いません。改変されたログは、その箇所を示して拒否します。`},
}
