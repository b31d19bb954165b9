package repomap

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/llm"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// tree makes paths of lines like "src/core/{a,b}.c" and "pkg/*200/main.go".
func tree(lines ...string) (paths []string) {
	for _, line := range lines {
		for _, p := range braces(line) {
			paths = append(paths, numbered(p)...)
		}
	}
	return paths
}

func braces(line string) []string {
	before, rest, ok := strings.Cut(line, "{")
	if !ok {
		return []string{line}
	}
	inner, after, _ := strings.Cut(rest, "}")
	var all []string
	for _, word := range strings.Split(inner, ",") {
		all = append(all, braces(before+word+after)...)
	}
	return all
}

func numbered(p string) []string {
	before, rest, ok := strings.Cut(p, "*")
	if !ok {
		return []string{p}
	}
	var n int
	var after string
	digits := strings.TrimLeft(rest, "0123456789")
	_, _ = fmt.Sscan(rest[:len(rest)-len(digits)], &n)
	after = digits
	var all []string
	for i := range n {
		all = append(all, numbered(fmt.Sprintf("%s%03d%s", before, i, after))...)
	}
	return all
}

// shapes are repositories as they are found, by the ways in which they are built.
var shapes = map[string]struct {
	paths   []string
	task    string
	details map[string]Detail
}{
	"go": {tree("go.mod", "go.sum", "README.md", "Makefile", "LICENSE", ".github/workflows/{ci,release}.yml", "cmd/{server,worker}/main.go", "AGENTS.md",
		"internal/queue/{queue,heap,queue_test,heap_test,export_test}.go", "internal/store/{store,sqlite,store_test}.go", "internal/store/migrations/f*12.sql", "docs/{setup,queue}.md", "internal/store/CLAUDE.md"),
		"Worker loses jobs\n\npanic in queue.go:41\n\n\tgoroutine 1: /home/ci/build/internal/store/sqlite.go:88 +0x1d\nSee `priority_heap`.",
		map[string]Detail{"internal/queue/queue.go": {Size: 43_000, Symbols: []Symbol{{"type", "Queue", 12}, {"func", "New", 30}, {"func", "Queue.Push", 41}}}}},
	"python": {tree("pyproject.toml", "setup.cfg", "README.rst", "src/shop/{__init__,__main__,cli}.py", "src/shop/models/{__init__,user,order,line_item}.py", "src/shop/api/{__init__,views,serializers}.py",
		"tests/{__init__,conftest,test_user,test_order}.py", "tests/data/f*40.json", "docs/{index,api}.rst"),
		"LineItem.total is wrong for discounts\n\nTraceback:\n  File \"/srv/app/src/shop/models/order.py\", line 12, in total\nAlso shop.api.views is affected.", nil},
	"node monorepo": {tree("package.json", "pnpm-workspace.yaml", "tsconfig.json", "packages/{core,ui,cli,docs-site}/package.json", "packages/{core,ui}/src/{index,util*9}.ts", "packages/ui/src/components/{Button,Modal,DataTable}/{index.tsx,index.test.tsx,style.css}",
		"packages/cli/src/{index,main}.ts", "packages/docs-site/pages/p*30.mdx", "packages/ui/AGENTS.md", "e2e/{login,table}.spec.ts", "packages/core/dist/bundle.min.js"),
		"DataTable: sorting breaks `packages/ui/src/components/DataTable/index.tsx`\nhttps://github.com/o/r/blob/main/packages/core/src/util003.ts#L3 and https://example.com/other/index.ts", nil},
	"rust": {tree("Cargo.toml", "Cargo.lock", "crates/{parser,cli}/Cargo.toml", "crates/parser/src/{lib,lexer,ast}.rs", "crates/parser/src/grammar/{mod,items,types}.rs", "crates/parser/tests/{ok,err}/t*50.rs", "crates/cli/src/main.rs"),
		"crash in parser::grammar::items when a file is empty", nil},
	"java": {tree("pom.xml", "src/main/java/com/example/shop/{Shop,Cart,PriceCalculator}.java", "src/main/resources/application.yml", "src/test/java/com/example/shop/{ShopTest,CartTest}.java"),
		"NPE\n\tat com.example.shop.PriceCalculator.sum(PriceCalculator.java:33)", nil},
	"c": {tree("CMakeLists.txt", "configure.ac", "src/{main,net,parser,util}.{c,h}", "lib/zlib/f*80.c", "third_party/openssl/d*20/f*10.c", "tests/t*30.c", "README"),
		"buffer overflow in `src\\parser.c`, function parse_header (net.h)", nil},
	"strange names": {tree("a\nb/c.go", "x\u202ey.md", "日本語/設計 書.md", "-rf", "src/<!-- a -->.go", "`/x.go", "emoji 🎉/f.py"), "fix `日本語/設計 書.md`", nil},
	"empty":         {nil, "start a project", nil},
}

func TestShapes(t *testing.T) {
	for name, c := range shapes {
		m := New(c.paths, c.task)
		got := m.Text(Options{Tokens: 2000, Depth: -1, Details: c.details}) + "\n"
		file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".txt")
		if *update {
			_ = os.MkdirAll("testdata", 0o755)
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(file)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		mixed := slices.Clone(c.paths)
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if again := New(mixed, c.task).Text(Options{Tokens: 2000, Depth: -1, Details: c.details}) + "\n"; again != got {
			t.Errorf("%s: another order of the paths gives another map", name)
		}
	}
}

// large is a repository of 15,000 files as kubernetes and the like are.
func large() []string {
	return tree("go.mod", "Makefile", "README.md", "OWNERS", "api/openapi/v*60.json", "build/b*40.sh", "cmd/c*30/{main,app,options}.go", "docs/d*200.md", "hack/h*120.sh", "logo/l*10.svg",
		"pkg/p*60/{a*25,b*12_test}.go", "plugin/x*20/y*6.go", "staging/src/example.io/s*24/pkg/q*10/f*18.go", "test/{e2e,integration,fuzz}/t*25/f*20.go", "third_party/t*30/f*20.c",
		"vendor/v*60/w*5/f*17.go", "pkg/scheduler/queue/scheduling_queue.go", "staging/AGENTS.md", "translations/l*40.po", "cluster/addons/a*20/f*20.yaml", "LICENSES/l*500")
}

func TestLargeRepository(t *testing.T) {
	paths := large()
	if len(paths) < 15_000 {
		t.Fatalf("%d files are too few", len(paths))
	}
	task := "Pods stay pending\n\nSee scheduling_queue.go:120, `test/e2e/t007/` and cmd/c012/options.go; hack/h003.sh fails"
	m := New(paths, task)
	for _, budget := range []int{300, 800, 2000, 4000} {
		text := m.Text(Options{Tokens: budget, Depth: -1})
		if got := llm.Estimate(text); got > budget {
			t.Errorf("a map for %d tokens has %d", budget, got)
		}
		if budget < 800 {
			continue
		}
		for _, want := range []string{"- pkg/scheduler/queue/scheduling_queue.go\n", "- test/e2e/t007/\n", "- cmd/c012/options.go\n", "- hack/h003.sh\n", "staging/AGENTS.md"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d tokens: the map lacks %q:\n%s", budget, want, text)
			}
		}
		for _, p := range paths {
			if top, _, ok := strings.Cut(p, "/"); ok && !strings.Contains(text, "\n"+top+"/ ") {
				t.Errorf("%d tokens: the map lacks %s/:\n%s", budget, top, text)
				break
			}
		}
	}
}

// TestManyTopLevelDirectories: where not all have room, the most important stand for
// themselves and the others are counted.
func TestManyTopLevelDirectories(t *testing.T) {
	paths := tree("pkg-*2000/{package.json,index.js}", "core/src/f*100.js")
	text := New(paths, "bug in pkg-1234/index.js").Text(Options{Tokens: 2000, Depth: -1})
	if got := llm.Estimate(text); got > 2000 || got < 1000 {
		t.Errorf("%d tokens:\n%s", got, text)
	}
	for _, want := range []string{"- pkg-1234/index.js\n", "core/ 100", ", pkg-1234/ 2\n", "more directories with", "from pkg-", "4100 files: js 2100, json 2000"} {
		if !strings.Contains(text, want) {
			t.Errorf("the map lacks %q:\n%s", want, text)
		}
	}
}

// TestNames: what words of a task name. A word that is no path names nothing.
func TestNames(t *testing.T) {
	paths := tree("Makefile", "README.md", "src/{a,b,c,d,e,f,g,h,i,j}/index.js", "src/net/Http_Client.go", "src/util/test", "pkg/net/url.go", "docs/a b.md", "lib/foo.rb", "LICENSE", "x/y/z.go", ".gitignore", "web/.env.example")
	for text, want := range map[string][]string{
		"see src/net/Http_Client.go":                         {"src/net/Http_Client.go"},
		"http_client.go:12:5: undefined":                     {"src/net/Http_Client.go"},
		"at f (/app/src/net/Http_Client.go:12:5)":            {"src/net/Http_Client.go"},
		"+++ b/x/y/z.go":                                     {"x/y/z.go"},
		`C:\work\x\y\z.go(12)`:                               {"x/y/z.go"},
		"index.js is everywhere":                             nil,
		"src/c/index.js is one":                              {"src/c/index.js"},
		"run make with the Makefile, the license and test":   {"Makefile"},
		"the `docs/a b.md` page":                             {"docs/a b.md"},
		"edit `.gitignore`, .env.example.":                   {".gitignore", "web/.env.example"},
		"in `pkg/net` or util/":                              {"pkg/net/", "src/util/"},
		"https://example.org/README.md is not ours":          nil,
		"https://gitlab.example/g/p/-/blob/v1/lib/foo.rb#L3": {"lib/foo.rb"},
		"and/or n/a 1/2":                                     nil,
	} {
		if got := New(paths, text).named; !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func TestDepth(t *testing.T) {
	paths := tree("a.go", "b/c.go", "b/d/e.go")
	for depth, want := range map[int]string{
		0:  "a.go\nb/ 2 go",
		1:  "a.go\nb/ 2 go\n  c.go\n  d/ 1 go",
		-1: "a.go\nb/ 2 go\n  c.go\n  d/ 1: e.go",
	} {
		_, got, _ := strings.Cut(New(paths, "").Text(Options{Tokens: 2000, Depth: depth}), "below them:\n")
		if got != want {
			t.Errorf("depth %d:\n%s", depth, got)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	paths := large()
	task := strings.Repeat("Pods stay pending in scheduling_queue.go when the PriorityClass changes.\n", 40)
	for b.Loop() {
		New(paths, task).Text(Options{Tokens: 2000, Depth: -1})
	}
}
