package i18n

import (
	"fmt"
	"strings"
)

// moneyTexts say what calls took, and what is not known of that.
var moneyTexts = texts{
	"money.usd":      {"%s USD", "%s USD"},
	"money.and":      {", %s", "、%s"},
	"money.none":     {"no price", "単価なし"},
	"money.note":     {"– no price: llm.prices of the configuration has none for the model", "– 単価なし: 設定の llm.prices にこのモデルの単価がありません"},
	"money.partial":  {"+ some of the calls have no price", "+ 一部の呼び出しは単価なし"},
	"money.estimate": {"~ estimated: the server gave no count, or the call was interrupted", "~ 推定値: 使用量が得られなかったか、呼び出しが中断されました"},

	"calls.model":       {"model calls: %d", "モデル呼び出し %d 回"},
	"calls.summaries":   {"summaries: %d", "要約 %d 回"},
	"calls.interrupted": {"interrupted: %d", "中断 %d 回"},
	"calls.failed":      {"failed: %d", "失敗 %d 回"},
	"calls.others":      {" (%s)", "（%s）"},
	"calls.and":         {", ", "、"},
	"calls.tools":       {"tool calls: %d", "ツール呼び出し %d 回"},

	"costs.seq":         {"SEQ", "番号"},
	"costs.step":        {"PHASE", "フェーズ"},
	"costs.calls":       {"CALLS", "回数"},
	"costs.prompt":      {"PROMPT", "入力"},
	"costs.cached":      {"CACHED", "キャッシュ"},
	"costs.output":      {"OUTPUT", "出力"},
	"costs.time":        {"TIME", "時間"},
	"costs.result":      {"RESULT", "結果"},
	"costs.tokens":      {"TOKENS", "トークン"},
	"costs.total":       {"total", "合計"},
	"costs.none":        {"The model was not called.", "モデルは呼び出されていません。"},
	"costs.interrupted": {"interrupted", "中断"},
	"costs.open":        {"no reply yet", "応答待ち"},
	"costs.failed":      {"failed: %s", "失敗: %s"},
	"costs.times":       {"TIME is of the model. From start to end %s: active %s, waiting %s", "時間はモデルの時間です。開始から終了まで %s: 稼働 %s、待機 %s"},
	"costs.active":      {"Active: model %s, tools %s, forge, saving and the rest %s", "稼働の内訳: モデル %s、ツール %s、フォージ・保存・その他 %s"},
	"costs.more":        {"tokens and money of each call: agent inspect %s --costs", "呼び出しごとのトークンと費用: agent inspect %s --costs"},
}

// USD is an amount of money as a number, "–" if it is not known.
func USD(usd float64) string {
	switch {
	case usd <= 0:
		return "–"
	case usd < 0.0001:
		return "<0.0001"
	case usd < 1:
		return fmt.Sprintf("%.4f", usd)
	}
	return fmt.Sprintf("%.2f", usd)
}

// Tokens is a number of tokens; ~ marks an estimate.
func Tokens(n int, estimated bool) string {
	if estimated && n > 0 {
		return fmt.Sprintf("~%d", n)
	}
	return fmt.Sprint(n)
}

// Cost is an amount of money where a label says what it is, "–" if it is not known.
func Cost(usd float64) string {
	if usd <= 0 {
		return USD(usd)
	}
	return USD(usd) + " USD"
}

// Money is an amount of money in words. Of a model without a price nothing is known.
func Money(l Lang, usd float64) string {
	if usd <= 0 {
		return Text(l, "money.none")
	}
	return Text(l, "money.usd", USD(usd))
}

// Calls says how many model calls there were, with those that are no turns of the
// conversation: summaries, and calls without a reply.
func Calls(l Lang, all, summaries, interrupted, failed int) string {
	return Text(l, "calls.model", all) + NoTurns(l, summaries, interrupted, failed)
}

// NoTurns is what follows a number of model calls: how many of them are no turns of the
// conversation. It is empty if there are none.
func NoTurns(l Lang, summaries, interrupted, failed int) string {
	var others []string
	for _, part := range []struct {
		id ID
		n  int
	}{{"calls.summaries", summaries}, {"calls.interrupted", interrupted}, {"calls.failed", failed}} {
		if part.n > 0 {
			others = append(others, Text(l, part.id, part.n))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return Text(l, "calls.others", strings.Join(others, Text(l, "calls.and")))
}
