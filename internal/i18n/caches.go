package i18n

var cacheTexts = texts{
	"gc.did.caches":        {"removed %d caches of tools, %s", "削除したツールのキャッシュ: %d 件（%s）"},
	"gc.would.caches":      {"would remove %d caches of tools, %s", "削除予定のツールのキャッシュ: %d 件（%s）"},
	"gc.plan.cache":        {"%s  would remove its caches, which nobody used for a month (%s)", "%s  1 か月使われていないキャッシュを削除予定（%s）"},
	"gc.plan.remove_cache": {"%s  would remove the caches that it left (%s, %s)", "%s  残されたキャッシュを削除予定（%s、%s）"},
	"doctor.caches":        {"%s: caches of %d repositories, %d MiB (max_cache_mb allows %d MiB each)", "%s: %d リポジトリ分のキャッシュ、%d MiB（max_cache_mb の上限はそれぞれ %d MiB）"},
	"doctor.caches.off":    {"%s: no caches are kept (max_cache_mb is 0)", "%s: キャッシュは保存されません（max_cache_mb が 0）"},
}
