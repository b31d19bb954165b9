package jetstream

import (
	"fmt"
	"strings"
)

// Names of the port become subjects: a slash divides tokens, and a dot, which would do so,
// becomes an equals sign, which no name has.

// tokens gives the subject of a name of the port.
func tokens(name string) (string, error) {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" {
			return "", fmt.Errorf("the name %q has an empty part", name)
		}
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-/", rune(c)) {
			return "", fmt.Errorf("the name %q has a character that is none of a-z, A-Z, 0-9, . _ - and /", name)
		}
	}
	return strings.NewReplacer(".", "=", "/", ".").Replace(name), nil
}

func name(tokens string) string {
	return strings.NewReplacer(".", "/", "=", ".").Replace(tokens)
}

// filter gives the subjects of a prefix: those below it if it ends with a slash, or its own.
func filter(prefix string) (string, error) {
	below, all := strings.CutSuffix(prefix, "/")
	t, err := tokens(below)
	if err == nil && all {
		t += ".>"
	}
	return t, err
}
