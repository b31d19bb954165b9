package pagetest

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Problems are the elements, attributes and addresses of a page that ours never have.
// Scripts counts its scripts.
func Problems(text string) (scripts int, problems []string) {
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return scripts, problems
		}
		token := z.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		own := false
		switch token.Data {
		case "script", "link":
			own = true
			if token.Data == "script" {
				scripts++
			}
		case "iframe", "object", "embed", "img", "base", "math", "video", "audio", "template", "portal", "frame":
			problems = append(problems, "element "+token.Data)
		}
		for _, a := range token.Attr {
			switch {
			case own && slices.Contains([]string{"/page.css", "/page.js", "/live.js", "stylesheet", ""}, a.Val):
			case strings.HasPrefix(a.Key, "on"), slices.Contains([]string{"style", "src", "srcdoc", "formaction", "xlink:href", "ping"}, a.Key),
				a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "?"),
				a.Key == "href" && strings.HasPrefix(a.Val, "//"), a.Key == "http-equiv" && a.Val != "Content-Security-Policy":
				problems = append(problems, fmt.Sprintf("attribute %s=%q of %s", a.Key, a.Val, token.Data))
			}
		}
	}
}
