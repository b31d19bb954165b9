package i18n

// setupTexts are printed by init: questions, what is wrong with an answer, and
// the comments of the file (init.c).
var setupTexts = texts{
	"init.ask.lang":     {"Language (auto, en, ja)", "言語（auto、en、ja）"},
	"init.ask.forge":    {"Forge (%s)", "フォージ（%s）"},
	"init.ask.url":      {"API URL of %s, such as %s", "%s のAPIのURL（例: %s）"},
	"init.ask.repos":    {"Projects (%s, separated by commas)", "プロジェクト（%s、コンマ区切り）"},
	"init.ask.token":    {"Environment variable that holds the %s token", "%s のトークンを入れる環境変数"},
	"init.ask.bot":      {"Login of the token's account", "トークンのアカウント名"},
	"init.ask.provider": {"Model server (%s)", "モデルサーバー（%s）"},
	"init.ask.model":    {"Model", "モデル"},
	"init.ask.base":     {"Address of the model server, such as %s", "モデルサーバーのアドレス（例: %s）"},

	"init.ask.sandbox":   {"This system cannot confine commands (%s).\noff: commands of the model run with all your rights. required: the agent does not run here", "このシステムではコマンドを隔離できません（%s）。\noff: モデルのコマンドがあなたの全権限で動きます。required: この環境ではagentを実行しません"},
	"init.bad.sandbox":   {"--sandbox must be off or required.", "--sandbox には off または required を指定してください。"},
	"init.bad.secret":    {"This looks like a secret. Secrets do not belong in the file: give the name of the environment variable that holds it. Nothing was written, but the secret is on your screen and perhaps in your shell history, so you should replace it.", "秘密情報のように見えます。秘密情報は設定ファイルに書かず、それを入れた環境変数の名前を指定してください。どこにも書き込んでいませんが、画面やシェルの履歴に残るため、再発行をお勧めします。"},
	"init.bad.lang":      {"--lang must be auto, en or ja.", "--lang には auto、en、ja のいずれかを指定してください。"},
	"init.bad.forge":     {"--forge must be one of: %s.", "--forge には次のいずれかを指定してください: %s。"},
	"init.bad.url":       {"--forge-url must be the API URL of %s, such as %s (http only on this machine).", "--forge-url には %s のAPIのURLを指定してください（例: %s。http はこのマシンのみ）。"},
	"init.bad.repos":     {"Name at least one project in the form %[1]s: --repo %[1]s.", "%[1]s の形式でプロジェクトを1つ以上指定してください: --repo %[1]s。"},
	"init.bad.token":     {"--token-env must be the name of the variable that holds the %s token (letters, digits and _), never the token itself.", "--token-env には %s のトークンを入れた環境変数の名前（英数字と _）を指定してください。トークン自体は指定しないでください。"},
	"init.bad.bot":       {"--bot-name must be a single word.", "--bot-name には空白を含まないアカウント名を指定してください。"},
	"init.bad.provider":  {"--provider must be one of: %s.", "--provider には次のいずれかを指定してください: %s。"},
	"init.bad.model":     {"Name a model: --model NAME.", "モデルを指定してください: --model 名前。"},
	"init.bad.base":      {"--base-url must be an address such as %s (http only on this machine).", "--base-url には %s のようなアドレスを指定してください（http はこのマシンのみ）。"},
	"init.bad.workspace": {"--workspace must be an existing directory.", "--workspace には既存のディレクトリを指定してください。"},

	"init.written":  {"Wrote %s.", "%s を作成しました。"},
	"init.label":    {"created label %q in %s", "ラベル %q を %s に作成しました"},
	"init.nolabels": {"not all labels were created", "一部のラベルを作成できませんでした"},
	"init.next":     {"Set %s in the environment, then run:", "環境変数 %s を設定してから、次を実行してください:"},

	"init.c.head":      {"Configuration of agent. Keep secrets in environment variables, not here.\n${NAME} is replaced by a variable, ${NAME:-default} has a default, $$ is a dollar sign.", "agentの設定ファイル。秘密情報はここに書かず、環境変数に置いてください。\n${NAME} は変数の値、${NAME:-既定値} は既定値付き、$$ は $ そのものです。"},
	"init.c.forge":     {"Where tasks come from. The agent works on open items that carry the bot label.", "タスクの取得元。ボットのラベルが付いたオープンな項目を処理します。"},
	"init.c.labels":    {"The label that starts the work. The others (processing_label, done_label, …) have defaults.", "作業を開始するラベル。他のラベル（processing_label、done_label など）には既定値があります。"},
	"init.c.workspace": {"Empty: the agent clones the project for each task. A directory: it works there in place, without branch or push.", "空: タスクごとにクローンします。ディレクトリ: その場で作業し、ブランチもプッシュも行いません。"},
	"init.c.llm":       {"The model. With protocol auto the agent uses tool calls, and JSON if the server refuses them.", "モデル。protocol が auto の場合はツール呼び出しを使い、拒否されたらJSONを使います。"},
	"init.c.window":    {"The model's context window in tokens. agent doctor compares it with what the server reports.", "モデルのコンテキスト長（トークン）。agent doctor がサーバーの値と比較します。"},
	"init.c.prices":    {"USD per million tokens, required for limits in USD: {\"name\": {input: 1, cached: 0.5, output: 4}}", "100万トークンあたりのUSD。金額の上限に必要です: {\"name\": {input: 1, cached: 0.5, output: 4}}"},
	"init.c.limits":    {"Limits; 0 means none. A task that reaches one is paused until agent resume.", "上限。0 は無制限です。達したタスクは agent resume まで一時停止します。"},
	"init.c.servers":   {"Tool servers (MCP). {workspace} is the task's working copy.", "ツールサーバー（MCP）。{workspace} はタスクの作業コピーです。"},
	"init.c.sandbox":   {"This system cannot confine commands: they run with all rights of your user and can read\nall that you can read. Use a machine or a user of its own. Remove the line where Landlock and user namespaces work.", "このシステムではコマンドを隔離できないため、あなたの全権限で動き、あなたが読めるものはすべて読めます。\n専用のマシンかユーザーで使ってください。Landlockとユーザー名前空間が使える環境では、次の行を消してください。"},
	"init.c.comments":  {"Whose comments the agent reads: auto (everyone in private projects; the author and people\nwith write access in public ones), any, author or trusted.", "どのコメントを読むか: auto（非公開プロジェクトでは全員、公開では投稿者と書き込み権限のある人）、\nany、author、trusted。"},
	"init.c.changes":   {"Open a pull or merge request at the end of a task.", "タスク終了時にプルリクエスト（マージリクエスト）を作成します。"},
	"init.c.loop":      {"Tasks worked on at the same time, and the seconds between two scans of agent loop.", "同時に処理するタスク数と、agent loop の確認間隔（秒）。"},
}
