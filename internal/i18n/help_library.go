package i18n

// helpLibrary are the words of the library, and the help of its commands.
var helpLibrary = []pair{
	{"Usage:", "使い方:"},
	{"Examples:", "例:"},
	{"Available Commands:", "コマンド:"},
	{"Flags:", "フラグ:"},
	{"Global Flags:", "共通フラグ:"},
	{`Use "%s [command] --help" for more information about a command.`, `各コマンドの説明は "%s [command] --help" で表示できます。`},
	{"help for %s", "%s のヘルプを表示"},
	{"version for %s", "%s のバージョンを表示"},
	{"(default %s)", "（既定: %s）"},
	{"Generate the autocompletion script for %s", "%s の補完スクリプトを出力"},

	{"Generate the autocompletion script for the specified shell", "シェルの補完スクリプトを出力"},
	{`Generate the autocompletion script for agent for the specified shell.
See each sub-command's help for details on how to use the generated script.
`,
		`agent の補完スクリプトを、指定したシェル用に出力します。使い方は、各シェルの
サブコマンドのヘルプにあります。`},
	{`Generate the autocompletion script for the bash shell.

This script depends on the 'bash-completion' package.
If it is not installed already, you can install it via your OS's package manager.

To load completions in your current shell session:

	source <(agent completion bash)

To load completions for every new session, execute once:

#### Linux:

	agent completion bash > /etc/bash_completion.d/agent

#### macOS:

	agent completion bash > $(brew --prefix)/etc/bash_completion.d/agent

You will need to start a new shell for this setup to take effect.
`,
		`bash の補完スクリプトを出力します。

このスクリプトには 'bash-completion' パッケージが必要です。未導入の場合は、OS の
パッケージマネージャーでインストールしてください。

現在のシェルで補完を有効にするには:

	source <(agent completion bash)

以後のすべてのシェルで有効にするには、次を 1 回実行します:

#### Linux:

	agent completion bash > /etc/bash_completion.d/agent

#### macOS:

	agent completion bash > $(brew --prefix)/etc/bash_completion.d/agent

新しく起動したシェルから有効になります。`},
	{`Generate the autocompletion script for the fish shell.

To load completions in your current shell session:

	agent completion fish | source

To load completions for every new session, execute once:

	agent completion fish > ~/.config/fish/completions/agent.fish

You will need to start a new shell for this setup to take effect.
`,
		`fish の補完スクリプトを出力します。

現在のシェルで補完を有効にするには:

	agent completion fish | source

以後のすべてのシェルで有効にするには、次を 1 回実行します:

	agent completion fish > ~/.config/fish/completions/agent.fish

新しく起動したシェルから有効になります。`},
	{`Generate the autocompletion script for powershell.

To load completions in your current shell session:

	agent completion powershell | Out-String | Invoke-Expression

To load completions for every new session, add the output of the above command
to your powershell profile.
`,
		`powershell の補完スクリプトを出力します。

現在のシェルで補完を有効にするには:

	agent completion powershell | Out-String | Invoke-Expression

以後のすべてのシェルで有効にするには、上のコマンドの出力を powershell の
プロファイルに追加します。`},
	{`Generate the autocompletion script for the zsh shell.

If shell completion is not already enabled in your environment you will need
to enable it.  You can execute the following once:

	echo "autoload -U compinit; compinit" >> ~/.zshrc

To load completions in your current shell session:

	source <(agent completion zsh)

To load completions for every new session, execute once:

#### Linux:

	agent completion zsh > "${fpath[1]}/_agent"

#### macOS:

	agent completion zsh > $(brew --prefix)/share/zsh/site-functions/_agent

You will need to start a new shell for this setup to take effect.
`,
		`zsh の補完スクリプトを出力します。

zsh の補完がまだ有効でない場合は、次を 1 回実行して有効にします:

	echo "autoload -U compinit; compinit" >> ~/.zshrc

現在のシェルで補完を有効にするには:

	source <(agent completion zsh)

以後のすべてのシェルで有効にするには、次を 1 回実行します:

#### Linux:

	agent completion zsh > "${fpath[1]}/_agent"

#### macOS:

	agent completion zsh > $(brew --prefix)/share/zsh/site-functions/_agent

新しく起動したシェルから有効になります。`},
	{"Help about any command", "コマンドのヘルプを表示"},
	{`Help provides help for any command in the application.
Simply type agent help [path to command] for full details.`,
		"コマンドのヘルプを表示します。agent help に続けてコマンドを指定してください。"},
	{"disable completion descriptions", "補完候補の説明を省略"},
}
