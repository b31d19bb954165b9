package i18n

// packagedTexts are about the agent as a service and as a package.
var packagedTexts = texts{
	"why.image":               {"the container image that the commands of this project run in cannot be had. Make it available or name another one, then run `agent resume` to try again", "このプロジェクトのコマンドを実行するコンテナイメージを取得できません。イメージを用意するか別のイメージを指定し、`agent resume` で再試行してください"},
	"doctor.credentials":      {"secrets come from a credential of systemd: %s", "シークレットは systemd のクレデンシャルから読み込みます: %s"},
	"doctor.todo.credentials": {"only the service has its credentials; run this as the service does: %s", "クレデンシャルはサービスだけに渡されます。サービスと同じ条件で実行してください: %s"},
}
