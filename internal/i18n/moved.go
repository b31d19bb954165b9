package i18n

// movedTexts are about what others changed at the same time.
var movedTexts = texts{
	"change.transferred": {"The change was not published: the issue is in another project now, and the work was made in a copy of the former one. %s",
		"変更は公開していません。課題が別のプロジェクトに移され、作業は元のプロジェクトのコピーで行ったためです。%s"},
	"change.rebased": {"Somebody pushed to the branch meanwhile. The commits stand on top of that; what was checked before was not run again.",
		"作業中に他の方がブランチにプッシュしたため、コミットをその上に載せました。それより前に行った確認は、再実行していません。"},
}
