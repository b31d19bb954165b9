package i18n

// helpSetup is the help of the commands to set up, and of the remaining ones.
var helpSetup = []pair{
	{"Write a configuration file to start with", "設定ファイルの雛形を作成"},
	{`init writes a commented config.yaml (mode 0600) from its flags. On a terminal it asks for
what they leave open, and checks token, repositories and model as far as the variables
are set. Secrets never go into that file, only the names of the variables
that hold them; the file env beside it has a line for each, to be filled in. An existing
file is kept unless --force is given, and env is never replaced.`,
		`フラグの値から、コメント付きの config.yaml（モード 0600）を作成します。
端末では、指定のない項目を質問し、トークン、リポジトリ、モデルを、環境変数が
設定されている範囲で確認します。秘密情報はこのファイルに書かず、それを入れる
環境変数の名前だけを書きます。同じ場所に作るファイル env には変数ごとの
行があり、値はそこに書き入れます。既存の設定ファイルは --force を付けない限り
残し、既存の env は常に残します。`},
	{"address of the model server", "モデルサーバーのアドレス"},
	{"login of the token's account", "トークンのアカウント名"},
	{"create the labels on the forge", "フォージにラベルを作成"},
	{"replace an existing file", "既存のファイルを置き換え"},
	{"one of github, gitlab (default: what --forge-url looks like)", "github または gitlab（既定: --forge-url から判断）"},
	{"API of the forge (default https://api.github.com)", "フォージの API（既定: https://api.github.com）"},
	{"print what was written as one JSON object; questions go to standard error",
		"作成した内容を 1 つの JSON オブジェクトで出力（質問は標準エラー出力）"},
	{"auto, en or ja (default auto)", "auto、en、ja（既定: auto）"},
	{"USD that a task may cost, 0: no limit (default 0)", "1 タスクの費用の上限（USD、0: 無制限、既定: 0）"},
	{"tokens that a task may use, 0: no limit (default 2000000)", "1 タスクのトークン上限（0: 無制限、既定: 2000000）"},
	{"name of the model", "モデルの名前"},
	{"file to write (default: --config, or the default path)", "作成するファイル（既定: --config、なければ既定のパス）"},
	{"one of openai, ollama, lmstudio, anthropic (default openai)",
		"openai、ollama、lmstudio、anthropic（既定: openai）"},
	{"owner/repo, or group/project on GitLab; may be repeated", "owner/repo、GitLab では group/project（複数指定可）"},
	{"off or required, where the system has no sandbox (default: asks, else off)",
		"サンドボックスがない場合: off または required（既定: 質問、不可なら off）"},
	{"variable that holds the forge's token (default GITHUB_PERSONAL_ACCESS_TOKEN)",
		"フォージのトークンを入れる環境変数（既定: GITHUB_PERSONAL_ACCESS_TOKEN）"},
	{"local repository to work in, in place: no clone, branch or push", "その場で作業するリポジトリ（クローン・ブランチ・プッシュなし）"},

	{"Show the configuration, or its schema for editors", "設定、またはエディター用のスキーマを表示"},

	{"Show the values in force, and where each comes from", "現在有効な値とその設定元を表示"},
	{`show prints every value that is in force and its source: a line of the file, a variable
of the environment, a flag, or the default. With keys or sections it shows those only.
Secrets are never shown, only whether they are set.`,
		`有効な値と、その設定元（設定ファイルの行、環境変数、フラグ、既定値）をすべて
表示します。キーまたはセクションを指定すると、それだけを表示します。秘密情報は
表示せず、設定済みかどうかだけを示します。`},
	{"only what is not the default", "既定値と異なるもののみ"},
	{"print one JSON object a line for each key", "キーごとに JSON オブジェクトを 1 行で出力"},

	{"Print the JSON Schema of the configuration file", "設定ファイルの JSON Schema を出力"},
	{`schema prints a JSON Schema, with which editors complete and check the file. For the YAML
language server put this line at the top of the file:

  # yaml-language-server: $schema=config.schema.json`,
		`設定ファイルの JSON Schema を出力します。エディターでの補完と検査に使えます。
YAML の言語サーバーを使う場合は、設定ファイルの先頭に次の行を書いてください:

  # yaml-language-server: $schema=config.schema.json`},

	{"Check everything that a run needs", "実行に必要なものをすべて確認"},
	{`doctor checks the configuration, files, disk, contexts, forges, model, tool servers, git and
sandbox, and says how to fix each problem. It exits with 0 if it finds no problem (warnings,
marked !, do not count), else with 78. It changes nothing, unless --create-labels is given.
To find out whether the model can call tools it makes a very short conversation, unless
--no-model-call is given.`,
		`設定、ファイル、ディスク、コンテキスト、フォージ、モデル、ツールサーバー、git、
サンドボックスを確認し、問題ごとに対処方法を示します。問題がなければ 0（! の付く
警告は数えません）、あれば 78 で終了します。--create-labels を付けない限り、何も
変更しません。モデルがツールを呼び出せるかどうかは、ごく短い会話で確認します
（--no-model-call で省略できます）。`},
	{"those that the projects lack", "不足しているラベルを作成"},
	{"create the labels that the projects lack", "プロジェクトに不足しているラベルを作成"},
	{"print one JSON object a line for each finding", "確認結果ごとに JSON オブジェクトを 1 行で出力"},
	{"do not call the model", "モデルの呼び出しを省略"},

	{"Try how people are told of tasks", "通知が届くかどうかを確認"},

	{"Send a message to every receiver of the section notify", "設定の notify にあるすべての通知先へメッセージを送信"},
	{`test sends one message to each receiver that the configuration has in notify, whatever it is
told of otherwise, and says what went wrong. It exits with 74 if one did not take it.`,
		`設定の notify にある各通知先へ、通知対象の設定に関わらずメッセージを
1 件送信し、失敗の内容を表示します。送信できない通知先があれば 74 で終了します。`},
	{"print one JSON object a line for each receiver", "通知先ごとに JSON オブジェクトを 1 行で出力"},

	{"See the whole program at work, on this machine alone", "このマシンだけで全体を実演"},
	{`demo creates a git repository with a failing test and starts a fake forge and a scripted
model on this machine. It then runs the real agent on a labelled issue, kills it halfway
with SIGKILL, runs it again, pauses it to ask a question, and shows the result. It needs
git and go, but no network.`,
		`失敗するテストを含む git リポジトリを作成し、模擬フォージと、台本どおりに
応答するモデルをこのマシンで起動します。続いて、ラベルの付いた Issue で実際の
エージェントを実行し、途中で SIGKILL により強制終了します。その後、再度実行し、
一時停止して質問し、結果を表示します。git と go が必要です。ネットワークは
使いません。`},
	{"keep all files in this directory, which must be empty or new", "すべてのファイルを残すディレクトリ（空または新規）"},
	{"where the issue is: github or gitlab", "Issue の場所: github または gitlab"},
	{"print what was made as one JSON object at the end; the story goes to standard error",
		"最後に結果を 1 つの JSON オブジェクトで出力（経過は標準エラー出力）"},
	{"language of the demo: en or ja (default: as LANG says)", "デモの言語: en または ja（既定: LANG に従う）"},

	{"The built-in tool server", "内蔵のツールサーバー"},

	{"Serve file and command tools for one directory over stdio (MCP)",
		"1 ディレクトリ用のファイル・コマンドツールを stdio で提供（MCP）"},
	{"the directory that the tools work in", "ツールが扱うディレクトリ"},

	{"Write the documentation of the commands", "コマンドのドキュメントを出力"},

	{"Write manual pages, one for each command", "コマンドごとにマニュアルページを出力"},

	{"Show versions", "バージョンを表示"},
	{"print them as one JSON object", "1 つの JSON オブジェクトで出力"},
}
