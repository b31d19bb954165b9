package i18n

// migrateTexts are about contexts that are brought into a cluster, or out of it.
var migrateTexts = texts{
	"cluster.imported": {"%d contexts were given to the cluster; it had %d of them before", "%d件のコンテキストをクラスターに登録しました（登録済み: %d件）"},
	"cluster.exported": {"%d contexts are in %s", "%d件のコンテキストを %s に書き出しました"},
	"cluster.skipped":  {"skipped: %s: %s", "対象外: %s: %s"},
}
