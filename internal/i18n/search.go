package i18n

// searchTexts say what a search on a page found, and what to do about a damaged log.
var searchTexts = texts{
	"page.hits.none":     {"no match", "一致なし"},
	"page.hits.one":      {"1 match", "1 件一致"},
	"page.hits.many":     {"# matches", "# 件一致"},
	"page.problems.todo": {"These parts of the log cannot be read; the page shows the rest. The first command says what is damaged, the second one keeps what can be read:", "ログの上記の部分は読み取れません。このページには残りの部分を表示しています。1 つ目のコマンドで破損箇所を確認し、2 つ目のコマンドで読み取れる部分を復旧できます:"},
}
