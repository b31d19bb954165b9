package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the template, the style sheet and the script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"
)

var (
	//go:embed page.tmpl
	source string
	// CSS is the style sheet.
	//go:embed page.css
	CSS string
	// JS is the script.
	//go:embed page.js
	JS string
)

// templates are parsed when the first page is written.
var templates = sync.OnceValue(Templates)

// Templates are those of a page, for who makes other pages of its parts.
func Templates() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"dict": dict, "kib": func(n int) int { return n >> 10 }, "head": heading}).Parse(source))
}

func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// heading is what is in the head of a page: the policy, the style sheet and the script of a
// file; of a page of the server only where those are.
func heading(d *Doc) template.HTML {
	if d.Nav != "" {
		return `<link rel="stylesheet" href="/page.css"><script defer src="/page.js"></script><script defer src="/live.js"></script>`
	}
	return template.HTML(fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="%s"><style>%s</style><script>%s</script>`, Policy(), CSS, JS))
}

// Policy is what a page in a file may do: nothing but run our script and be styled.
func Policy() string {
	return "default-src 'none'; style-src " + hashOf(CSS) + "; script-src " + hashOf(JS) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the page.
func (d *Doc) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if err := templates().ExecuteTemplate(out, "page", d); err != nil {
		return err
	}
	return out.Flush()
}

// Before is the event before the first one that is shown.
func (d *Doc) Before() uint64 { return max(d.First, 2) - 1 }
