// Package format writes single values into texts for people and models: a time, a
// uuid, a number, a short text on one line or as code. It is pure.
package format

import (
	"math"
	"strconv"
	"strings"
	"time"

	"agent/internal/sanitize"
)

// ShortID is the beginning of a uuid, as people are shown it.
func ShortID(uuid string) string { return uuid[:min(8, len(uuid))] }

// OneLine joins the words of a text by single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// First is at most n characters of s, with a mark if there are more.
func First(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + " …"
		}
		n--
	}
	return s
}

// Number shows an amount without an exponent, money to a hundredth of a cent.
func Number(x float64) string {
	const parts = 1e4
	return strconv.FormatFloat(math.Round(x*parts)/parts, 'f', -1, 64)
}

// Clock is a time as people and models are shown it: UTC, to the second.
func Clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// Code shows a short text as code, on one line.
func Code(text string) string {
	return "`" + strings.ReplaceAll(First(OneLine(sanitize.Terminal(text)), 120), "`", "'") + "`"
}

// Paragraphs joins the parts that are not empty.
func Paragraphs(parts []string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}
