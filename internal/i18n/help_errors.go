package i18n

// usageErrors say that a command line is not understood.
var usageErrors = []pair{
	{"unknown command %s for %s", "不明なコマンド: %s（%s）"},
	{"Did you mean this?", "もしかして:"},
	{"unknown flag: %s", "不明なフラグ: %s"},
	{"unknown shorthand flag: %s in %s", "不明な短縮フラグ: %s（%s）"},
	{"flag needs an argument: %s", "フラグに値がありません: %s"},
	{"invalid argument %s for %s flag: %s", "フラグ %[2]s の値 %[1]s は無効です: %[3]s"},
	{"required flag(s) %s not set", "必須のフラグがありません: %s"},
	{"accepts at most %s arg(s), received %s", "引数は %s 個までです（指定: %s 個）"},
	{"accepts %s arg(s), received %s", "引数は %s 個必要です（指定: %s 個）"},

	{"%s needs a %s; agent list shows them", "%s には %s が必要です（agent list で確認できます）"},
	{"%s takes no arguments, not %s", "%s に引数は指定できません: %s"},
	{"%s takes one %s, not %s", "%s に指定できる %s は 1 つです（指定: %s 個）"},
	{"%s takes %s, not %s arguments", "%s の引数は %s です（指定: %s 個）"},
	{"completion needs a shell: bash, zsh, fish or powershell", "シェルを指定してください: bash、zsh、fish、powershell"},
	{"say which tasks, or --all", "タスクまたは --all を指定してください"},
	{"say which contexts, --all or --index", "コンテキスト、--all、--index のいずれかを指定してください"},
	{"restore needs a directory: --to DIR", "ディレクトリを指定してください: --to DIR"},

	{"agent --help shows the commands", "agent --help でコマンドの一覧を表示できます"},
	{"%s --help shows what it takes", "%s --help で使い方を表示できます"},
}
