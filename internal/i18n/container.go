package i18n

var containerTexts = texts{
	"gc.did.images":          {"removed %d container images, %s", "削除したコンテナイメージ: %d 件（%s）"},
	"gc.would.images":        {"would remove %d container images, %s", "削除予定のコンテナイメージ: %d 件（%s）"},
	"gc.plan.image":          {"%s  would remove this container image, which nobody used for a month (%s)", "%s  1 か月使われていないコンテナイメージを削除予定（%s）"},
	"doctor.container":       {"%s: the image is on this machine", "%s: イメージはこのマシンにあります"},
	"doctor.container.pull":  {"%s: the image is not on this machine; the first task that needs it fetches it", "%s: イメージはまだありません。最初に必要とするタスクが取得します"},
	"doctor.container.none":  {"%s: %v", "%s: %v"},
	"doctor.container.dir":   {"%s: %d unpacked images, %d MiB", "%s: 展開済みイメージ %d 件（%d MiB）"},
	"doctor.container.allow": {"repositories may name images: %s", "リポジトリが指定できるイメージ: %s"},
	"doctor.todo.container":  {"install podman (apt-get install podman) or docker, or fetch the image: podman pull %s", "podman をインストールするか（apt-get install podman）、イメージを取得してください: podman pull %s"},
}
