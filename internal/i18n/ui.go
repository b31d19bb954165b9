package i18n

// uiTexts are those of the browser in the terminal.
var uiTexts = texts{
	"tui.contexts": {"agent · contexts: %d of %d", "agent · コンテキスト: %d / %d 件"},
	"tui.state":    {"state", "状態"},
	"tui.age":      {"age", "経過"},
	"tui.cost":     {"USD", "USD"},
	"tui.task":     {"task", "タスク"},
	"tui.title":    {"title", "タイトル"},
	"tui.none":     {"No context.", "コンテキストはありません。"},
	"tui.loading":  {"reading …", "読み込み中…"},
	"tui.nothing":  {"There is none.", "該当する行はありません。"},
	"tui.tokens":   {"tokens", "トークン"},
	"tui.time":     {"time", "時間"},
	"tui.part":     {"events %d–%d of %d", "イベント %d–%d / %d"},
	"tui.failed":   {"%d failed", "失敗 %d 件"},

	"tui.waits.signal":  {"(resume)", "（再開待ち）"},
	"tui.waits.time":    {"(time)", "（時刻待ち）"},
	"tui.waits.person":  {"(person)", "（人待ち）"},
	"tui.waits.comment": {"(answer)", "（回答待ち）"},

	"tui.for.model":  {"waiting for the model: %s, %s", "モデルの応答待ち: %s（%s）"},
	"tui.for.tool":   {"waiting for a tool: %s, %s", "ツールの実行待ち: %s（%s）"},
	"tui.for.forge":  {"waiting for the forge: %s, %s", "フォージの応答待ち: %s（%s）"},
	"tui.for.person": {"waiting for a person: %s, %s", "人の対応待ち: %s（%s）"},
	"tui.for.time":   {"goes on by itself: %s, %s", "自動で再開します: %s（%s）"},

	"tui.keys.list":    {"enter open · / filter · P pause · R resume · S stop · ? keys · q quit", "enter 開く · / 絞り込み · P 一時停止 · R 再開 · S 停止 · ? キー一覧 · q 終了"},
	"tui.keys.context": {"enter detail · n failed · d diff · p plan · c message · F fork · ? keys · q back", "enter 詳細 · n 失敗 · d 差分 · p 計画 · c 発言 · F フォーク · ? キー · q 戻る"},
	"tui.keys.filter":  {"words: all must fit · ↑ ↓ choose · enter keep the filter · esc drop it", "語句（すべてに一致） · ↑ ↓ 選択 · enter 確定 · esc 解除"},
	"tui.keys.detail":  {"j/k scroll · n failed · d diff · q back to the timeline", "j/k スクロール · n 失敗 · d 差分 · q タイムラインに戻る"},

	"tui.help": {"Keys", "キー一覧"},
	"tui.help.keys": {`
  j k ↓ ↑     move                    space, PgDn, PgUp a page
  g G         first, last (follows)   enter             open, detail, fold
  q esc       back, quit              /                 filter (list)
  r           read again (list)       ?                 this page

In a context
  n N         next, previous failure  d                 next change of files
  p           latest plan             c                 next comment or message
  space       fold a phase            m                 show minor rows, too
  f           follow                  tab               to the detail and back

With a question
  P pause     R resume                S stop            F fork at this event
`, `
  j k ↓ ↑     移動                    space, PgDn, PgUp ページ移動
  g G         先頭、末尾（追従）      enter             開く、詳細、折りたたみ
  q esc       戻る、終了              /                 絞り込み（一覧）
  r           再読み込み（一覧）      ?                 このページ

コンテキスト内
  n N         次の失敗、前の失敗      d                 次のファイル変更
  p           最新の計画              c                 次のコメント・メッセージ
  space       フェーズの折りたたみ    m                 細かい行も表示
  f           追従                    tab               詳細との切り替え

確認あり
  P 一時停止  R 再開                  S 停止            F ここからフォーク
`},

	"tui.ask.pause":  {"Pause %s? y/n ", "%s を一時停止しますか？ y/n "},
	"tui.ask.resume": {"Resume %s? y/n ", "%s を再開しますか？ y/n "},
	"tui.ask.stop":   {"Stop %s for good? y/n ", "%s を終了させますか（元に戻せません）？ y/n "},
	"tui.ask.fork":   {"Fork %s at event %d. Words for the model (enter forks, esc does not):", "%s をイベント %d からフォークします。モデルへの指示（enter で実行、esc で中止）:"},

	"row.interrupted": {"the process ended without a word", "プロセスが何も記録せずに終了しました"},

	"tui.arguments": {"Arguments", "引数"},
	"tui.output":    {"Output", "出力"},
	"tui.message":   {"Message to the model: %s, %s", "モデルへのメッセージ: %s、%s"},
	"tui.comment":   {"Comment: %s", "コメント: %s"},
	"tui.by":        {"By %s", "%s による"},
	"tui.summary":   {"Summary of events %d to %d", "イベント %d から %d の要約"},
	"tui.revised":   {"Plan revised: %s", "計画の変更: %s"},
	"tui.reasoning": {"Reasoning", "推論"},
	"tui.reply":     {"Reply (%s)", "応答（%s）"},
	"tui.call":      {"→ %s", "→ %s"},
	"tui.plan":      {"Plan", "計画"},
	"tui.actions":   {"Actions: %d", "アクション: %d 件"},
	"tui.diff":      {"Changed files: %d", "変更ファイル: %d 件"},
	"tui.used":      {"%d tokens (prompt %d, output %d)", "%d トークン（入力 %d、出力 %d）"},
	"tui.cut":       {"… the rest: agent inspect %s %d", "…続きは agent inspect %s %d"},

	"tui.kind.model":        {"model", "モデル"},
	"tui.kind.tool":         {"tool", "ツール"},
	"tui.kind.comment":      {"comment", "コメント"},
	"tui.kind.labels":       {"labels", "ラベル"},
	"tui.kind.change":       {"change", "変更提案"},
	"tui.kind.files":        {"files", "ファイル"},
	"tui.kind.message":      {"message", "発言"},
	"tui.kind.phase":        {"phase", "フェーズ"},
	"tui.kind.action":       {"action", "手順"},
	"tui.kind.plan":         {"plan", "計画"},
	"tui.kind.input":        {"input", "入力"},
	"tui.kind.process":      {"process", "プロセス"},
	"tui.kind.interruption": {"died", "中断"},
	"tui.kind.pause":        {"pause", "停止"},
	"tui.kind.await":        {"wait", "待機"},
	"tui.kind.resume":       {"resume", "再開"},
	"tui.kind.request":      {"request", "要求"},
	"tui.kind.limit":        {"limit", "上限"},
	"tui.kind.end":          {"end", "終了"},
	"tui.kind.other":        {"other", "その他"},

	"tui.phase.understanding": {"understanding", "理解"},
	"tui.phase.information":   {"information", "情報収集"},
	"tui.phase.assumption":    {"assumption", "仮定"},
	"tui.phase.planning":      {"planning", "計画"},
	"tui.phase.execution":     {"execution", "実行"},
	"tui.phase.reflection":    {"reflection", "振り返り"},
	"tui.phase.revision":      {"revision", "計画変更"},
	"tui.phase.replanning":    {"replanning", "再計画"},
	"tui.phase.verification":  {"verification", "検証"},
	"tui.phase.other":         {"another phase", "その他のフェーズ"},
}
