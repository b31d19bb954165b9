package redact

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"agent/internal/exhaustive"
)

const fragile = "Kq7-vX2pLw9_Zt4mRb8sYc3nHd6fJg1e" // 32 characters

func TestRunsOfSixteenAreReplaced(t *testing.T) {
	r := New([]string{fragile})
	for from := range len(fragile) {
		for to := from + 1; to <= len(fragile); to++ {
			for _, text := range []string{fragile[from:to], strings.ToUpper(fragile[from:to]), wide(fragile[from:to]), strings.Join(strings.Split(fragile[from:to], ""), " ")} {
				got, changed := r.String("before <" + text + "> 後")
				if want := to-from >= minRun; changed != want || want && got != "before <[redacted:secret]> 後" {
					t.Fatalf("%d characters: %q became %q", to-from, text, got)
				}
			}
		}
	}
}

// wide spells ASCII in full-width forms.
func wide(s string) string {
	return strings.Map(func(r rune) rune { return r - '!' + '！' }, s)
}

func TestTwoHalvesAreReplaced(t *testing.T) {
	r := New([]string{fragile, "another-Value_0123456789-Abcdefghij"})
	first, second := fragile[:12], fragile[len(fragile)-12:]
	for text, want := range map[string]string{
		first + " and " + second:                    "[redacted:secret] and [redacted:secret]",
		second + "\n\nthen\n" + first + ".":         "[redacted:secret]\n\nthen\n[redacted:secret].",
		first + ", " + fragile[12:28]:               "[redacted:secret], [redacted:secret]",
		first + " and " + first:                     first + " and " + first,
		first + " and " + second[1:]:                first + " and " + second[1:],
		first + " and another-Valu":                 first + " and another-Valu",
		fragile[:14] + " overlaps " + fragile[8:22]: fragile[:14] + " overlaps " + fragile[8:22],
	} {
		if got, _ := r.String(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestFewDifferentCharactersAreNoSecret(t *testing.T) {
	r := New([]string{"0000000000000000000000000000001", "=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-key-4711-abc"})
	for _, text := range []string{strings.Repeat("0", 40), strings.Repeat("=-", 40)} {
		if got, changed := r.String(text); changed {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// What all keys, JWTs and addresses share is no secret.
func TestSharedPartsOfValues(t *testing.T) {
	mine, theirs := keys(t), keys(t)
	for name, key := range mine {
		r := New([]string{key})
		other := strings.ReplaceAll(theirs[name], "PRIVATE", "PUBLIC") // the shape of a private key is replaced anyway
		if got, changed := r.String(other); changed {
			t.Errorf("%s: another key became %q", name, got)
		}
		lines := strings.Split(key, "\n")
		last := lines[len(lines)-3] // a whole line of it; "<" is in no key
		if got, _ := r.String("it is <" + last[len(last)-20:]); got != "it is <[redacted:secret]" {
			t.Errorf("%s: %q", name, got)
		}
	}
	r := New([]string{"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJqdGkiOiI5ZjJjIn0.Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg", "https://api.example.com/v1/something"})
	for _, text := range []string{"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "https://api.example.com/v2/something"} {
		if got, changed := r.String(text); changed {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func keys(t *testing.T) map[string]string {
	t.Helper()
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(edwards)
	if err != nil {
		t.Fatal(err)
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(large)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"ed25519": block("PRIVATE KEY", der), "rsa": block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(large)), "pkcs8": block("PRIVATE KEY", pkcs8), "ec": block("EC PRIVATE KEY", sec1)}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// A text made to look promising everywhere takes no more than its length allows:
// candidates are counted, not seconds.
func TestFragmentsTakeLinearTime(t *testing.T) {
	secret := strings.Repeat("abcdefgh", 200) + fragile
	f := newFragments([]string{secret})
	for _, n := range []int{1, exhaustive.Of(10, 100)} {
		text := strings.Repeat("abcdefghabcdefg!", n*1000)
		if found := f.runs(fold(text)); len(found) > n*3000 {
			t.Errorf("%d runs in %d bytes", len(found), len(text))
		}
	}
	for g, at := range f.grams {
		if len(at) > maxAlike {
			t.Fatalf("gram %x is tried %d times", g, len(at))
		}
	}
}

func ExampleRedactor_String() {
	r := New([]string{fragile})
	text, _ := r.String("The key ends in " + fragile[12:] + ".")
	fmt.Println(text)
	// Output: The key ends in [redacted:secret].
}
