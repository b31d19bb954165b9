package redact

import (
	"bytes"
	"net/url"
	"strings"
)

// pieces are the parts of a value, folded, whose fragments are secret: without
// what other texts share with it by right.
func pieces(value string) [][]byte {
	switch {
	case strings.Contains(value, "-----BEGIN "):
		value = keyBody(value)
	case strings.HasPrefix(value, "eyJ") && strings.Contains(value, "."):
		_, value, _ = strings.Cut(value, ".") // the header of a JWT names its algorithm
	case plainURL(value):
		return nil
	}
	return bytes.Split(fold(value), []byte{separator})
}

// plainURL tells whether a value, such as an API's address from the environment,
// is a URL without credentials.
func plainURL(value string) bool {
	u, err := url.Parse(value)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// keyBody is the base64 of a PEM block without its armour lines, its headers, and
// the start that all keys of its kind have.
func keyBody(value string) string {
	var body strings.Builder
	for line := range strings.SplitSeq(strings.ReplaceAll(value, `\n`, "\n"), "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "-----") && !strings.Contains(line, ":") {
			body.WriteString(line)
		}
	}
	s := strings.ReplaceAll(body.String(), p256, "\x00")
	return s[min(len(s), sharedStart(s)):]
}

// p256 is base64 that names the curve of an elliptic key, before its public part.
const p256 = "oAoGCCqGSM49AwEHoUQDQgAE"

// sharedStart is how many characters of base64 name the format and the algorithm.
func sharedStart(body string) int {
	switch {
	case strings.HasPrefix(body, "b3BlbnNzaC1rZXktdjE"): // openssh-key-v1
		return 88
	case strings.HasPrefix(body, "MI"): // more than 127 bytes: RSA, or an elliptic key in PKCS #8
		return 52
	}
	return 24
}
