package i18n

// webhookTexts are those about the hooks of forges.
var webhookTexts = texts{
	"webhooks.listen":                  {"%v. Correct the section webhooks, or end the program that listens there; agent doctor checks it", "%v。webhooks の設定を修正するか、そのポートを使用中のプログラムを終了してください (agent doctor で確認できます)"},
	"doctor.check.webhooks":            {"webhooks", "Webhook"},
	"doctor.webhooks.free":             {"%s is free; agent loop will listen there", "%s は空いています。agent loop がここで待ち受けます"},
	"doctor.webhooks.listens":          {"agent loop listens at %s", "agent loop が %s で待ち受けています"},
	"doctor.webhooks.taken":            {"agent loop cannot listen: %v", "agent loop が待ち受けできません: %v"},
	"doctor.webhooks.certificate":      {"the certificate cannot be used: %v", "証明書を使用できません: %v"},
	"doctor.webhooks.setup":            {"set up %s once: HOOK_URL=https://… WEBHOOK_SECRET=…; %s", "%s の設定 (初回のみ): HOOK_URL=https://… WEBHOOK_SECRET=…; %s"},
	"doctor.webhooks.expired":          {"the certificate expired at %s: forges send nothing", "証明書の有効期限が切れています（%s）。フックは届きません"},
	"doctor.webhooks.expires":          {"the certificate expires at %s", "証明書の有効期限は %s です"},
	"doctor.todo.webhooks.renew":       {"renew the certificate: the new file is read by itself", "証明書を更新してください。新しいファイルは自動で読み込まれます"},
	"doctor.todo.webhooks.taken":       {"choose another port for webhooks.listen, or end the program that listens there", "webhooks.listen に別のポートを指定するか、そのポートを使用中のプログラムを終了してください"},
	"doctor.todo.webhooks.certificate": {"correct webhooks.cert_file and webhooks.key_file", "webhooks.cert_file と webhooks.key_file を修正してください"},
}
