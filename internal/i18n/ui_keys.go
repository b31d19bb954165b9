package i18n

// uiKeyTexts are the keys of the browser in the terminal, and what they say.
var uiKeyTexts = texts{
	"tui.help":      {"Keys", "キー操作"},
	"tui.keys.help": {"j/k scroll · esc closes", "j/k スクロール · esc 閉じる"},
	"tui.help.keys": {`
j k ↓ ↑|move
space PgDn|next page
PgUp|page before
g G Home End|first, last (follows)
enter →|open, detail, fold
q esc ←|back, quit
/|filter (list)
r|read again (list)
?|this page

In a context
n N|next, previous failure
d|next change of files
p|latest plan
c|next message to the model
w|next pause or resume
t|what the model was told next
57 enter|event 57 (also : and #)
s12 enter|step 12
$|tokens, money and time
v|next view of a detail
space|fold a phase
m|show minor rows, too
f|follow
tab|to the detail and back

With a question
P|pause
R|resume
S|stop
F|fork at this event

Signs
✗|failed
⚠|interrupted: result unknown
~|estimated
s3|step 3
`, `
j k ↓ ↑|移動
space PgDn|次のページ
PgUp|前のページ
g G Home End|先頭、末尾（追従）
enter →|開く、詳細、折りたたみ
q esc ←|戻る、終了
/|絞り込み（一覧）
r|再読み込み（一覧）
?|このページ

コンテキスト内
n N|次の失敗、前の失敗
d|次のファイル変更
p|最新の計画
c|次のモデルへのメッセージ
w|次の一時停止・再開
t|次にモデルに伝えた内容
57 enter|イベント 57（: # も可）
s12 enter|ステップ 12
$|トークン・費用・時間
v|詳細の表示切り替え
space|フェーズの折りたたみ
m|細かい行も表示
f|追従
tab|詳細との切り替え

確認あり
P|一時停止
R|再開
S|停止
F|ここからフォーク

記号
✗|失敗
⚠|中断（結果は不明）
~|推定値
s3|ステップ 3
`},

	"tui.ask.place": {"Event (57) or step (s4); enter goes there, esc does not:", "イベント（57）またはステップ（s4）。enter で移動、esc で中止:"},
	"tui.nothing":   {"%s does nothing here; ? shows the keys", "%s はここでは使えません（? キー一覧）"},
	"tui.shown":     {"Minor rows are shown, too: m hides them", "細かい行も表示しました（m で隠す）"},

	"tui.none.place":  {"There is no %s: %s", "%s はありません。%s"},
	"tui.none.form":   {"%s is no event (57) and no step (s4): %s", "%s はイベント（57）でもステップ（s4）でもありません。%s"},
	"tui.place.event": {"event %s", "イベント %s"},
	"tui.place.step":  {"step %s", "ステップ %s"},
	"tui.places":      {"events are 1 to %d, steps s1 to s%d", "イベントは 1 から %d、ステップは s1 から s%d です"},
	"tui.places.none": {"events are 1 to %d, and there are no steps", "イベントは 1 から %d、ステップはありません"},
	"tui.places.long": {"events are 1 to %d; steps are not counted in so long a log", "イベントは 1 から %d です（ログが大きいためステップは数えていません）"},
	"tui.none.told":   {"The model was told nothing after this", "これより後にモデルへ伝えた内容はありません"},
	"tui.none.view":   {"There is no other view of this", "ほかの表示はありません"},
	"tui.at.told":     {"request to the model %d of %d", "モデルへのリクエスト %d / %d 件"},

	"tui.at.failed":   {"failure %d of %d", "失敗 %d / %d 件"},
	"tui.at.plan":     {"plan: row %d of %d", "計画: %d / %d 行"},
	"tui.at.message":  {"message %d of %d", "メッセージ %d / %d 件"},
	"tui.at.diff":     {"change of files %d of %d", "ファイル変更 %d / %d 件"},
	"tui.at.pause":    {"pause or resume %d of %d", "一時停止・再開 %d / %d 件"},
	"tui.again.first": {"(again from the first)", "（先頭に戻りました）"},
	"tui.again.last":  {"(again from the last)", "（末尾に戻りました）"},

	"tui.none.failed":  {"Nothing failed here", "ここに失敗はありません"},
	"tui.none.plan":    {"There is no plan here", "ここに計画はありません"},
	"tui.none.message": {"There is no message here", "ここにメッセージはありません"},
	"tui.none.diff":    {"No files were changed here", "ここにファイル変更はありません"},
	"tui.none.pause":   {"There is no pause here", "ここに一時停止はありません"},

	"tui.none.phase":  {"Nothing to fold: only plans have phases", "折りたためるものはありません（フェーズがあるのは計画のみです）"},
	"tui.follows":     {"The latest row is followed", "最新の行を追従します"},
	"tui.follows.not": {"The latest row is not followed any more", "追従をやめました"},
	"tui.rests":       {"It is paused already", "すでに一時停止しています"},
	"tui.rests.not":   {"It is not paused: there is nothing to resume", "一時停止していないため、再開できません"},

	"tui.ended.pause":  {"It has ended: there is nothing to pause", "終了しているため、一時停止できません"},
	"tui.ended.resume": {"It has ended: there is nothing to resume", "終了しているため、再開できません"},
	"tui.ended.stop":   {"It has ended: there is nothing to stop", "終了しているため、停止できません"},

	"tui.how.command":     {"command", "コマンド"},
	"tui.how.comment":     {"comment", "コメント"},
	"tui.how.label":       {"label", "ラベル"},
	"tui.how.reaction":    {"reaction", "リアクション"},
	"tui.how.signal_file": {"signal file", "シグナルファイル"},
	"tui.how.timer":       {"timer", "タイマー"},
}
