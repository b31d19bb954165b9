package i18n

// clusterTexts are about several machines that work together.
var clusterTexts = texts{
	"fault.todo.cluster": {"look at the servers of the cluster (`agent doctor`); the work goes on when they answer",
		"クラスターのサーバーを確認してください（`agent doctor`）。応答が戻れば作業は続きます"},
	"status.worker":             {"worker %s: works on %d of %d, version %s, since %s", "ワーカー %s: %d/%d件を作業中、バージョン %s、%s前から"},
	"status.cluster.silent":     {"the cluster does not answer: %v", "クラスターが応答しません: %v"},
	"status.cluster.none":       {"no worker of the cluster %s takes tasks: start `agent loop`", "クラスター %s にタスクを受け取るワーカーがいません。`agent loop` を起動してください"},
	"doctor.cluster.ok":         {"the servers of %s answer; %d workers take tasks", "%sのサーバーが応答し、%d台のワーカーがタスクを受け取っています"},
	"doctor.cluster.workspaces": {"the worker %s has another workspaces_dir", "ワーカー %s の workspaces_dir が異なります"},
	"doctor.todo.workspaces":    {"give all machines the same path: working copies are made there again", "すべてのマシンで同じパスにしてください。作業コピーはそこに作り直されます"},
	"doctor.cluster.silent":     {"the servers do not answer: %v", "サーバーが応答しません: %v"},
	"doctor.todo.cluster":       {"check cluster.nats in the configuration, and that the servers run with JetStream", "設定の cluster.nats と、サーバーがJetStream付きで動いているかを確認してください"},
	"doctor.check.cluster":      {"cluster", "クラスター"},
	"seen.repository": {"%d tasks of its repository are worked on already (cluster.per_repository)",
		"このリポジトリのタスクはすでに%d件が作業中です（cluster.per_repository）"},
}
