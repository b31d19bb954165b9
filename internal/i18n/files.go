package i18n

// fileTexts say what became of the files of a working copy.
var fileTexts = texts{
	"why.files_changed":    {"somebody changed files in the workspace while I was not working there. Check them, then run `agent resume` to continue with the files as they are", "作業していない間にワークスペースのファイルが変更されました。内容を確認し、現在のファイルのまま続ける場合は `agent resume` を実行してください"},
	"why.files_unreadable": {"the stored files of the working copy are damaged, and the working copy is not in the state that the log recorded. Check it, then run `agent resume` to continue with the files as they are", "保存された作業コピーのファイルが壊れており、作業コピーは記録された状態と一致しません。内容を確認し、現在のファイルのまま続ける場合は `agent resume` を実行してください"},
	"why.files_lost":       {"the files of the working copy could not be restored. Run `agent resume` to try again", "作業コピーのファイルを復元できませんでした。`agent resume` で再試行できます"},

	// For the model.
	"files.missing":    {"The working copy was gone and has been cloned again.", "作業コピーが失われていたため、クローンし直しました。"},
	"files.damaged":    {"The working copy was damaged and has been cloned again.", "作業コピーが壊れていたため、クローンし直しました。"},
	"files.commit":     {"A different commit was checked out in the working copy, so it has been cloned again.", "作業コピーで別のコミットがチェックアウトされていたため、クローンし直しました。"},
	"files.differs":    {"The previous run was interrupted, and the files differed from what was recorded.", "前回の実行が中断され、ファイルが記録と異なっていました。"},
	"files.restored":   {"The files are now as they were after the last recorded tool call. What an interrupted call wrote is not in them.", "ファイルは、最後に記録されたツール呼び出しの直後の状態に戻しました。中断された呼び出しによる変更は含まれません。"},
	"files.differed":   {"These files differed:", "異なっていたファイル:"},
	"files.unrestored": {"Ignored files (installed packages, build results) and local commits are not restored. Create them again if you need them.", "無視対象のファイル（インストールしたパッケージやビルド結果など）とローカルのコミットは復元されません。必要なら作り直してください。"},
	"files.unknown":    {"The content of these files could not be restored:", "内容を復元できなかったファイル:"},
}
