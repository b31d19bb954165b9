package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

const rnd = "9fK2mQ7xT4bV8nL1cR6wZ3pJ5hG0dSyAeUoI"

// tokens are 40 shapes with the part that must not survive.
func tokens() map[string]string {
	long := rnd + rnd
	m := map[string]string{
		"github_pat_11ABCDEFG0" + rnd: rnd, "glpat-" + rnd[:20]: rnd[:20], "gldt-" + rnd[:20]: rnd[:20], "glrt-t1_" + rnd[:20]: rnd[:20], "glptt-" + long: rnd, "glcbt-64_" + rnd[:20]: rnd[:20],
		"glft-" + rnd[:20]: rnd[:20], "gloas-" + long: rnd, "glsoat-" + rnd[:20]: rnd[:20], "glagent-" + long[:50]: rnd,
		"sk-" + rnd: rnd, "sk-proj-" + rnd + "_-" + rnd: rnd, "sk-ant-api03-" + rnd: rnd, "sk-svcacct-" + rnd: rnd, "sk-" + strings.Repeat("a", 20): "aaaaaaaaaa",
		"sk_live_" + rnd[:24]: rnd[:24], "sk_test_" + rnd[:24]: rnd[:24], "rk_live_" + rnd[:24]: rnd[:24],
		"AKIA" + "IOSFODNN7EXAMPLE": "IOSFODNN", "ASIA" + "JEXAMPLEXEG2JICE": "JEXAMPLE", "AIza" + rnd[:35]: rnd[:35], "ya29." + rnd: rnd,
		"xapp-1-A012-" + rnd[:20]: rnd[:20], "npm_" + rnd: rnd, "pypi-AgEIcHlwaS5vcmc" + long: rnd, "hf_" + rnd: rnd, "dckr_pat_" + rnd[:27]: rnd[:27], "dop_v1_" + strings.Repeat("0a", 32): "0a0a",
		"SG." + rnd[:22] + "." + long[:43]:                                                         rnd[:22],
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + rnd:                                          rnd,
		"-----BEGIN RSA PRIVATE KEY-----\n" + rnd + "\n" + rnd + "\n-----END RSA PRIVATE KEY-----": rnd, "-----BEGIN PRIVATE KEY-----\\n" + rnd + "\\n": rnd,
		"-----BEGIN OPENSSH PRIVATE KEY-----\n" + rnd + "==\n-----END OPENSSH PRIVATE KEY-----":                                             rnd,
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n" + rnd + "\n-----END RSA PRIVATE KEY-----": rnd,
		"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + rnd:                                                                  rnd,
		"Authorization: Bearer " + rnd: rnd, "authorization: bearer " + rnd + "/+=": rnd,
	}
	for _, c := range "pousr" {
		m["gh"+string(c)+"_"+rnd] = rnd
	}
	for _, c := range "abeprs" {
		m["xox"+string(c)+"-123456789012-"+rnd[:24]] = rnd[:24]
	}
	return m
}

func TestShapesSplitAtEveryByte(t *testing.T) {
	if n := len(tokens()); n < 40 {
		t.Fatalf("only %d shapes", n)
	}
	for token, inner := range tokens() {
		text := "before " + token + " after\n"
		want, changed := (*Redactor)(nil).String(text)
		if !changed || strings.Contains(want, inner) || !strings.HasPrefix(want, "before ") || !strings.HasSuffix(want, "after\n") {
			t.Errorf("%q became %q", token, want)
		}
		for i := range len(text) + 1 {
			var out bytes.Buffer
			w := (*Redactor)(nil).Writer(&out)
			for _, part := range []string{text[:i], text[i:]} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Fatalf("%q split at %d became %q", token, i, out.String())
			}
		}
	}
}

func TestShapesInsideOtherTexts(t *testing.T) {
	for token, inner := range tokens() {
		quoted, err := json.Marshal("x\n" + token + "<")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(quoted), "k=" + token + "&x", "https://u:" + token + "@h/", "q?a=b%20" + token, "`" + token + "`", "日本" + token + "語"} {
			if got, _ := (*Redactor)(nil).String(text); strings.Contains(got, inner) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
}

func TestNoFalsePositives(t *testing.T) {
	corpus := []string{
		"550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000:17", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"da39a3ee5e6b4b0d3255bfef95601890afd80709", "h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBybVuN8=", "sha512-" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7, 99, 200}, 21)),
		"task-0123456789abcdef0123456789", "disk-0123456789abcdef0123456789", "risk-management-for-large-projects-2024", "sk-loading-indicator-container-wide", "ask-me-anything",
		"npm_config_registry=https://registry.example.com/", "npm_package_dependencies_somethinglong", "eyJ is the start of base64 of {\"", "Bearer ${TOKEN}", `"Bearer " + token`, "Bearer authentication is required here",
		"-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\nMFkw\n-----END CERTIFICATE-----", "ghp_ and gho_short", "AKIA is a prefix", "MAKIAIOSFODNN7EXAMPLEX",
		"[redacted:secret]", "[redacted:github_token]", "xoxo-kisses-and-hugs-all", "hf_transfer_enabled_for_downloads",
	}
	for _, name := range []string{"redact.go", "forms.go", "json.go", "writer.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		corpus = append(corpus, string(source))
	}
	r := New([]string{"a-configured-value"})
	for _, text := range corpus {
		if got, changed := r.String(text); changed {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestConfiguredValues(t *testing.T) {
	secret := `pä$$ "w/rd+&<7>`
	r := New([]string{"short", secret, "abcdef", "abcdefgh"})
	texts := map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "lower": strings.ToLower(url.QueryEscape("abcdefgh")), "hex": hex.EncodeToString([]byte(secret)),
		"HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))), "reversed": reversed(secret), "json": strings.Trim(string(must(json.Marshal(secret))), `"`),
	}
	for name, text := range texts {
		if got, changed := r.String("<" + text + ">"); !changed || got != "<[redacted:secret]>" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for before := range 6 {
		for after := range 4 {
			whole := strings.Repeat("x", before) + secret + strings.Repeat("y", after)
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				if got, changed := r.String(enc.EncodeToString([]byte(whole))); !changed || len(got) > len(markerStart)+20+before*2+after*2 {
					t.Errorf("base64 with %d before and %d after: %q", before, after, got)
				}
			}
		}
	}
	if got, _ := r.String("short abcdefgh abcdef"); got != "short [redacted:secret] [redacted:secret]" {
		t.Error(got)
	}
}

// With something between the characters, in whatever spelling.
func TestSplitValues(t *testing.T) {
	secret := "key-7f3c9a1e_5b2d4860"
	r := New([]string{secret, "many plain words"})
	for name, spelled := range map[string]string{"plain": secret, "reversed": reversed(secret), "hex": hex.EncodeToString([]byte(secret)),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret))} {
		for _, between := range []string{" ", "-", "\n", "\u200b", "\u00ad", "**", "` `", "_", "。", `\`, `\n`, `\\n`, `\u200b`} {
			text := "It is " + strings.Join(strings.Split(strings.TrimRight(spelled, "="), ""), between) + ", 日本."
			got, changed := r.String(text)
			if !changed || !strings.HasPrefix(got, "It is [redacted:secret]") || !strings.HasSuffix(got, ", 日本.") || len(got) > 40 {
				t.Errorf("%s with %q: %q", name, between, got)
			}
		}
	}
	halves := secret[:10] + "\n> " + secret[10:]
	if got, _ := r.String(halves + " and " + halves); got != "[redacted:secret] and [redacted:secret]" {
		t.Error(got)
	}
	for _, text := range []string{"many-plain-words", "key-7f3c9a1e and 5b2d4860", secret[:10] + " " + secret[11:]} {
		if got, changed := r.String(text); changed {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// Whatever the secrets are, even parts of the marker, a second time changes nothing.
func TestIdempotent(t *testing.T) {
	r := New([]string{"secret", "redacted", "[redacted", "token]", "foobar"})
	for _, text := range []string{"secret redacted [redacted:secret] [redacted token] token]", "foobarghp_" + rnd, "AKIAIOSFODNN7EXAMPLEfoobar", "[redacted:foobar]", "fofoobarobar"} {
		once, _ := r.String(text)
		if twice, changed := r.String(once); changed || twice != once {
			t.Errorf("%q → %q → %q", text, once, twice)
		}
	}
}

func TestJSONKeepsEverythingElse(t *testing.T) {
	r := New([]string{`se"cret\1`, "abcdef"})
	raw := "{ \"a\\u0041\" : [1.0e5, \"x\\/y\", \"se\\\"cret\\\\1\\n<\"],\r\n \"abcdef\":null, \"n\\\"\":12345678901234567890 }"
	want := "{ \"a\\u0041\" : [1.0e5, \"x\\/y\", \"[redacted:secret]\\n<\"],\r\n \"[redacted:secret]\":null, \"n\\\"\":12345678901234567890 }"
	if got, changed := r.JSON([]byte(raw)); !changed || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, changed := r.JSON([]byte(`{"a":"b"}`)); changed || string(got) != `{"a":"b"}` {
		t.Error(string(got))
	}
	if got, changed := r.JSON([]byte(`{"a":"abcdef`)); !changed || string(got) != `{"a":"[redacted:secret]` {
		t.Error(string(got))
	}
	nested := must(json.Marshal(string(must(json.Marshal(map[string]string{"arg": `se"cret\1`})))))
	if got, changed := r.JSON(nested); !changed || strings.Contains(string(got), "cret\\") {
		t.Error(string(got))
	}
}

func TestWriterHoldsBackNoMoreThanNeeded(t *testing.T) {
	var out bytes.Buffer
	w := New(nil).Writer(&out)
	for _, part := range []string{"one\ntw", "o\n", "-----BEGIN RSA PRIVATE KEY-----\nMII", "\nrest", strings.Repeat("z", maxHeld)} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); !strings.HasPrefix(got, "one\ntwo\n[redacted:private_key]") {
		t.Errorf("%.80q", got)
	}
}

// What comes in one piece because it is too long to hold ends after a whole character.
func TestWriterCutsBetweenCharacters(t *testing.T) {
	for _, character := range []string{"é", "語", "\U000e0041"} {
		for cut := 1; cut < len(character); cut++ {
			var out bytes.Buffer
			w := New(nil).Writer(writerFunc(func(p []byte) (int, error) {
				if !utf8.Valid(p) {
					t.Errorf("%q is cut after %d bytes", character, cut)
				}
				return out.Write(p)
			}))
			text := strings.Repeat("z", maxHeld) + character
			for _, part := range []string{text[:maxHeld+cut], text[maxHeld+cut:]} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || out.String() != text {
				t.Errorf("%q after %d bytes: %d bytes, %v", character, cut, out.Len(), err)
			}
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzString(f *testing.F) {
	for token := range tokens() {
		f.Add(token)
	}
	r := New([]string{"secret", "redacted", "0ghp_1"})
	f.Fuzz(func(t *testing.T, s string) {
		once, _ := r.String(s)
		if twice, changed := r.String(once); changed || twice != once {
			t.Errorf("%q → %q → %q", s, once, twice)
		}
		raw := must(json.Marshal(s))
		if got, _ := r.JSON(raw); !json.Valid(got) {
			t.Errorf("%s is no longer JSON: %s", raw, got)
		}
	})
}

func BenchmarkNothingFound(b *testing.B) {
	source := strings.Repeat(string(must(os.ReadFile("redact.go"))), 300)[:1<<20]
	r := New([]string{"a-configured-value", "another-configured-value-2"})
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, changed := r.String(source); changed {
			b.Fatal("found something")
		}
	}
}
