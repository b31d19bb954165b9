package i18n

// failureTexts say what became of a model call that did not give a usable reply.
var failureTexts = texts{
	"why.model_quota":            {"the model server's account is used up. Top it up, then run `agent resume`", "モデルサーバーのアカウントの残高または利用枠がありません。補充後、`agent resume` で再開してください"},
	"why.model_auth":             {"the model server refused the API key. Fix the key, then run `agent resume`", "モデルサーバーがAPIキーを拒否しました。修正後、`agent resume` で再開してください"},
	"why.model_not_found":        {"the model server does not have the configured model. Fix the configuration, then run `agent resume`", "モデルサーバーに指定のモデルがありません。設定を修正後、`agent resume` で再開してください"},
	"why.model_filtered":         {"the model server's content filter refused the request. Change the task or the model, then run `agent resume`", "モデルサーバーのコンテンツフィルターがリクエストを拒否しました。タスクまたはモデルを変更後、`agent resume` で再開してください"},
	"why.model_tools_refused":    {"the model server does not accept tools. Set `llm.protocol` to `auto` or `json`, then run `agent resume`", "モデルサーバーがツールの使用を拒否しました。`llm.protocol` を `auto` か `json` にしてから `agent resume` で再開してください"},
	"why.model_context_overflow": {"the request is too long for the model and cannot be shortened further. Use a model with a larger context window, then run `agent resume`", "リクエストがモデルのコンテキスト長を超え、これ以上短縮できません。コンテキスト長の大きいモデルに変更後、`agent resume` で再開してください"},
	"why.model_invalid":          {"the model server refused the request. Fix what it reports, then run `agent resume`", "モデルサーバーがリクエストを拒否しました。原因を修正後、`agent resume` で再開してください"},
	"paused.outage":              {"the model is not answering. The next try is after %s UTC; if it fails, more follow, up to an hour apart. Work resumes automatically", "現在モデルが応答しません。%s UTC 以降に再試行し、その後も最長1時間間隔で再試行します。応答があり次第、自動で再開します"},
	"status.outage":              {"tasks that wait for the model server: %d", "モデルサーバーの応答を待つタスク: %d 件"},

	// What was wrong with the last of several unusable replies.
	"reply.server":          {"The model server said: %s", "モデルサーバーの応答: %s"},
	"broken.bad_arguments":  {"The arguments of the last tool call were not a JSON object.", "最後のツール呼び出しの引数が JSON オブジェクトではありませんでした。"},
	"broken.too_large":      {"The arguments of the last tool call were too long.", "最後のツール呼び出しの引数が長すぎました。"},
	"broken.unknown_tool":   {"The last reply called a tool that does not exist.", "最後の応答は存在しないツールを呼び出しました。"},
	"broken.not_offered":    {"The last reply called a tool in a phase without tools.", "最後の応答は、ツールを使えない場面でツールを呼び出しました。"},
	"broken.malformed_call": {"The model server could not read the tool call in the last reply.", "最後の応答のツール呼び出しをモデルサーバーが解釈できませんでした。"},
	"broken.empty":          {"The last reply was empty.", "最後の応答は空でした。"},
	"broken.other":          {"The last reply could not be used.", "最後の応答は使用できませんでした。"},
}
