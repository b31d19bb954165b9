package redact

import "strings"

// tokenShape is a known form of token: a prefix and what may follow it.
type tokenShape struct {
	prefix     string
	kind       string
	bound      bool                  // only at the start of a word
	keepPrefix bool                  // the prefix is no part of the secret
	match      func(rest string) int // bytes of the secret after the prefix, 0 if it is none
}

// shapes are looked for in this order; longer prefixes stand before shorter ones.
var shapes = []tokenShape{
	{prefix: "github_pat_", kind: "github_token", match: chars(wordByte, 20)},
	{prefix: "ghp_", kind: "github_token", match: chars(alnumByte, 20)},
	{prefix: "gho_", kind: "github_token", match: chars(alnumByte, 20)},
	{prefix: "ghu_", kind: "github_token", match: chars(alnumByte, 20)},
	{prefix: "ghs_", kind: "github_token", match: chars(alnumByte, 20)},
	{prefix: "ghr_", kind: "github_token", match: chars(alnumByte, 20)},
	{prefix: "glpat-", kind: "gitlab_token", match: chars(dottedByte, 20)},
	{prefix: "gldt-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "glrt-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "glptt-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "glcbt-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "glft-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "gloas-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "glsoat-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "glagent-", kind: "gitlab_token", bound: true, match: random(dottedByte, 20)},
	{prefix: "sk-", kind: "api_key", bound: true, match: random(dashByte, 20)},
	{prefix: "sk_live_", kind: "api_key", bound: true, match: chars(alnumByte, 16)},
	{prefix: "sk_test_", kind: "api_key", bound: true, match: chars(alnumByte, 16)},
	{prefix: "rk_live_", kind: "api_key", bound: true, match: chars(alnumByte, 16)},
	{prefix: "AKIA", kind: "aws_key", bound: true, match: exactly(upperByte, 16)},
	{prefix: "ASIA", kind: "aws_key", bound: true, match: exactly(upperByte, 16)},
	{prefix: "AIza", kind: "google_key", bound: true, match: chars(dashByte, 30)},
	{prefix: "ya29.", kind: "google_key", bound: true, match: random(dashByte, 20)},
	{prefix: "xoxa-", kind: "slack_token", bound: true, match: random(dashByte, 10)},
	{prefix: "xoxb-", kind: "slack_token", bound: true, match: random(dashByte, 10)},
	{prefix: "xoxe-", kind: "slack_token", bound: true, match: random(dashByte, 10)},
	{prefix: "xoxp-", kind: "slack_token", bound: true, match: random(dashByte, 10)},
	{prefix: "xoxr-", kind: "slack_token", bound: true, match: random(dashByte, 10)},
	{prefix: "xoxs-", kind: "slack_token", bound: true, match: random(dashByte, 10)},
	{prefix: "xapp-", kind: "slack_token", bound: true, match: random(dashByte, 20)},
	{prefix: "npm_", kind: "npm_token", bound: true, match: chars(alnumByte, 30)},
	{prefix: "pypi-", kind: "pypi_token", bound: true, match: random(dashByte, 50)},
	{prefix: "hf_", kind: "api_key", bound: true, match: chars(alnumByte, 30)},
	{prefix: "dckr_pat_", kind: "api_key", bound: true, match: chars(dashByte, 20)},
	{prefix: "dop_v1_", kind: "api_key", bound: true, match: chars(alnumByte, 40)},
	{prefix: "SG.", kind: "api_key", bound: true, match: sendGrid},
	{prefix: "eyJ", kind: "jwt", bound: true, match: jwt},
	{prefix: "-----BEGIN ", kind: "private_key", match: privateKey},
	{prefix: "Bearer ", kind: "bearer", bound: true, keepPrefix: true, match: bearer},
	{prefix: "bearer ", kind: "bearer", bound: true, keepPrefix: true, match: bearer},
	{prefix: "BEARER ", kind: "bearer", bound: true, keepPrefix: true, match: bearer},
}

// kinds are all that may stand in a marker.
var kinds = func() map[string]bool {
	m := map[string]bool{kindSecret: true}
	for _, s := range shapes {
		m[s.kind] = true
	}
	return m
}()

func alnumByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
func wordByte(c byte) bool   { return alnumByte(c) || c == '_' }
func dashByte(c byte) bool   { return wordByte(c) || c == '-' }
func dottedByte(c byte) bool { return dashByte(c) || c == '.' }
func upperByte(c byte) bool  { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
func hexByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
func bearerByte(c byte) bool { return dottedByte(c) || strings.IndexByte("~+/=", c) >= 0 }

// run counts the bytes of a class at the start of s.
func run(s string, class func(byte) bool) int {
	n := 0
	for n < len(s) && class(s[n]) {
		n++
	}
	return n
}

func chars(class func(byte) bool, least int) func(string) int {
	return func(s string) int {
		if n := run(s, class); n >= least {
			return n
		}
		return 0
	}
}

func exactly(class func(byte) bool, count int) func(string) int {
	return func(s string) int {
		if run(s, wordByte) == count && run(s, class) == count {
			return count
		}
		return 0
	}
}

// random is chars that do not read like words joined by dashes: a name of a CSS
// class or of a machine begins like a key, but has no digit, capital or long run.
func random(class func(byte) bool, least int) func(string) int {
	return func(s string) int {
		n := run(s, class)
		if n < least {
			return 0
		}
		long := 0
		for i := range n {
			if upperByte(s[i]) {
				return n
			}
			if long++; !alnumByte(s[i]) {
				long = 0
			}
			if long >= 20 {
				return n
			}
		}
		return 0
	}
}

// jwt is header.payload.signature after "eyJ"; the payload is an object, too.
func jwt(s string) int {
	head := run(s, dashByte)
	if head < 8 || !strings.HasPrefix(s[head:], ".eyJ") {
		return 0
	}
	body := head + 1 + run(s[head+1:], dashByte)
	if body-head < 8 || !strings.HasPrefix(s[body:], ".") {
		return 0
	}
	sign := run(s[body+1:], dashByte)
	if sign < 10 {
		return 0
	}
	return body + 1 + sign
}

func sendGrid(s string) int {
	first := run(s, dashByte)
	if first < 16 || !strings.HasPrefix(s[first:], ".") {
		return 0
	}
	second := run(s[first+1:], dashByte)
	if second < 20 {
		return 0
	}
	return first + 1 + second
}

func bearer(s string) int {
	n := run(s, bearerByte)
	if n < 16 || !strings.ContainsAny(s[:n], "0123456789") {
		return 0
	}
	return n
}

const (
	pemLabel = "PRIVATE KEY-----"
	pemEnd   = "-----END "
	maxKey   = 64 << 10
)

// privateKey is a PEM block after "-----BEGIN ", cut off or not, also with its
// line breaks written as \n.
func privateKey(s string) int {
	label := strings.Index(s[:min(len(s), 64)], pemLabel)
	if label < 0 || strings.ContainsAny(s[:label], "-\n") {
		return 0
	}
	from := label + len(pemLabel)
	if end := strings.Index(s[from:min(len(s), from+maxKey)], pemEnd); end >= 0 {
		end += from + len(pemEnd)
		if tail := strings.Index(s[end:min(len(s), end+64)], pemLabel); tail >= 0 {
			return end + tail + len(pemLabel)
		}
	}
	return from + openBody(s[from:])
}

// openBody is the length of the body of a key without an end: base64, line
// breaks, and the headers of encrypted keys, which have a space after the colon.
func openBody(s string) int {
	n := 0
	for n < len(s) && (bearerByte(s[n]) || strings.IndexByte("\r\n\\:,", s[n]) >= 0 || s[n] == ' ' && n > 0 && s[n-1] == ':') {
		n++
	}
	return n
}
