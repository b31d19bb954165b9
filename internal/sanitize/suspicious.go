package sanitize

import (
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"agent/internal/lazyregexp"
)

// pattern is a known way to give orders to a model in a text. They are for logs:
// whoever means harm will find other words.
type pattern struct {
	name string
	form *lazyregexp.Regexp
}

// patterns are compiled at their first use: every process of the program would pay for it.
var patterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{"ignore_instructions", lazyregexp.New(`\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(previous|prior|above|earlier|preceding|system|all|your)\b.{0,30}\b(instructions?|prompts?|rules?|directions?|guidelines?|context)\b`)},
		{"ignore_instructions_ja", lazyregexp.New(`(以前|前|上記|これまで|今まで|システム|すべて|全て)の?.{0,10}(指示|命令|ルール|プロンプト|設定).{0,6}(無視|忘れ|破棄|従わ(ず|ない))`)},
		{"new_role", lazyregexp.New(`\byou are (now|no longer)\b|\bact as (an? )?(unrestricted|jailbroken|dan|admin|root|system)\b|\bdeveloper mode\b|(あなた|君)は(今から|これから)`)},
		{"system_tag", lazyregexp.New(`</?\s*(system|assistant|developer|im_start|im_end|instructions?)\b[^>]{0,80}>|<\|[a-z_]{2,30}\|>|\[/?(inst|system)\]|<<\s*/?sys\s*>>|(^|\n)\s*#{0,4}\s*(system|developer)( (prompt|message))?\s*:`)},
		{"agent_marker", lazyregexp.New(`<!--\s*agent\s+op=`)},
		{"reveal_prompt", lazyregexp.New(`\b(reveal|print|show|repeat|output|leak)\b.{0,30}\b(system prompt|your (instructions|prompt|rules)|hidden prompt)\b|システムプロンプトを.{0,8}(表示|出力|教え|見せ)`)},
		{"reveal_secret", lazyregexp.New(`\b(print|send|post|show|reveal|upload|exfiltrate|output|include)\b.{0,40}\b(api[ _-]?keys?|tokens?|secrets?|passwords?|credentials?|environment variables?|/proc/self/environ|\.env)\b|(トークン|パスワード|秘密|環境変数|apiキー)を.{0,8}(表示|出力|送|投稿|教え)`)},
		{"fake_reply", lazyregexp.New(`"(previous_output|command|done)"\s*:\s*(\{|true|")|"tool_calls?"\s*:`)},
		{"hide_from_user", lazyregexp.New(`\b(do not|don't|never) (tell|inform|mention|show)\b.{0,30}\b(user|human|anyone|maintainers?)\b|(ユーザー|利用者|人)に(は)?(知らせ|言わ|伝え)(ず|ない)`)},
	}
})

var space = lazyregexp.New(`[ \t\p{Zs}]+`)

// Suspicious names the injection patterns that a text contains, for logs only.
// It looks through hidden characters, look-alike widths, and case.
func Suspicious(s string) []string {
	f := filter{counts: map[string]int{}}
	f.write(strings.ToValidUTF8(firstRunes(s, MaxInput), "\ufffd"))
	text := strings.ToLower(space.ReplaceAllString(norm.NFKC.String(f.out.String()), " "))
	var found []string
	for _, p := range patterns() {
		if p.form.MatchString(text) {
			found = append(found, p.name)
		}
	}
	return found
}
