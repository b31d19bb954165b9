package i18n

// approvalTexts are about plans that people approve, and commands in comments.
var approvalTexts = texts{
	"approve.head":        {"📋 **Plan, version %d: `%s`**", "📋 **計画 第%d版: `%s`**"},
	"approve.who":         {"Nothing is carried out before somebody with write access answers:", "書き込み権限のある方が回答するまで、何も実行しません。"},
	"approve.how":         {"**approve**: comment `%[1]sapprove` or `approve %[2]s`", "**承認**: `%[1]sapprove` または `approve %[2]s` とコメント"},
	"approve.thumb":       {", or react with 👍 to this comment", "、またはこのコメントに 👍 でリアクション"},
	"approve.revise":      {"**revise**: `%srevise` and what is to be different, or any other comment", "**修正**: `%srevise` に続けて変更内容を記入、またはその他のコメント"},
	"approve.stop":        {"**stop**: `%sstop`", "**中止**: `%sstop`"},
	"approve.foot":        {"A command stands first in its line. Edited comments approve nothing. %s or the label, set again, approves too.", "コマンドは行頭に書いてください。編集されたコメントは承認になりません。%s の実行、またはラベルの付け直しでも承認できます。"},
	"approve.thumb.only":  {"**approve**: react with 👍 to this comment", "**承認**: このコメントに 👍 でリアクション"},
	"approve.revise.only": {"**revise**: comment what is to be different", "**修正**: 変更してほしい点をコメント"},
	"approve.foot.only":   {"%s or the label, set again, approves it.", "%s の実行、またはラベルの付け直しで承認できます。"},
	"approve.steps":       {"**Steps**", "**手順**"},
	"approve.nothing":     {"Nothing is left to do but to check the result.", "残りは結果の検証だけです。"},
	"approve.files":       {"**Files that it means to change**", "**変更予定のファイル**"},
	"approve.commands":    {"**Commands and other calls with effects**", "**実行するコマンドなど、影響のある呼び出し**"},
	"approve.none":        {"It names none.", "記載なし"},
	"approve.free":        {"⚠️ Some steps name no tool. What they change is shown before it is published: files that the plan does not name need another approval.", "⚠️ ツールを示していない手順があります。計画にないファイルの変更は、公開前に改めて承認を求めます。"},
	"approve.cut":         {"(The plan is longer than a comment can be. `agent inspect` shows all of it.)", "（計画がコメントの上限を超えています。全文は `agent inspect` で確認できます。）"},

	"why.plan":     {"the plan needs an approval. Somebody with write access answers its comment, sets the label again, or runs `agent resume`, which approve it", "計画の承認待ちです。書き込み権限のある方が計画のコメントに回答するか、ラベルを付け直すか `agent resume` を実行すると承認されます"},
	"stop.comment": {"somebody with write access asked for it in a comment", "書き込み権限のある方がコメントで中止を指示しました"},

	"doctor.approval": {"plans wait until somebody with write access comments `%s`; what %s writes approves nothing", "計画は、書き込み権限のある方が `%s` とコメントするまで実行されません（%s の投稿は承認になりません）"},

	"doctor.approval.quiet": {"plans wait until somebody with write access reacts to them with 👍 or sets the label again; what %s does approves nothing", "計画は、書き込み権限のある方が 👍 でリアクションするか、ラベルを付け直すまで実行されません（%s の操作は承認になりません）"},

	"held.unplanned": {"%s is not in the plan that was approved", "%s は承認された計画に含まれていません"},

	"why.approved.what.plan": {"the plan %s", "計画 %s"},
	"why.approved.reaction":  {"reaction", "リアクション"},
}
