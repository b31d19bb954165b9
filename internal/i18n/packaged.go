package i18n

// packagedTexts are about the agent as a service and as a package.
var packagedTexts = texts{
	"doctor.credentials":      {"secrets come from a credential of systemd: %s", "シークレットは systemd のクレデンシャルから読み込みます: %s"},
	"doctor.todo.credentials": {"only the service has its credentials; run this as the service does: %s", "クレデンシャルはサービスだけに渡されます。サービスと同じ条件で実行してください: %s"},
}
