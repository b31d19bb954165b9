// Package redact takes secrets out of texts before they are written or sent. Each
// becomes [redacted:<kind>], where kind is "secret" for a configured value.
//
// It finds
//   - tokens of well-known shapes;
//   - configured values of 6 bytes or more, as they are and URL-escaped, in base64
//     (all three alignments), hex, reversed, or with JSON escapes; values with a
//     digit and 12 letters and digits also with something between the characters;
//   - fragments of a configured value: a run of 16 or more of its characters with at
//     least 8 different ones, and two runs of 12 or more from different parts of it
//     in one text. Case, compatibility forms (NFKC), blanks, line ends and invisible
//     characters do not count.
//
// Not part of a fragment are the armour lines of a PEM key and the start that all
// keys of its kind share, the header of a JWT, and URLs without credentials.
//
// Limits. It does not find
//   - a fragment of fewer than 16 characters alone, nor three or more pieces of fewer than 12;
//   - a fragment that is encoded (base64, hex, reversed), compressed or encrypted,
//     nor a whole value in an encoding that is not named above;
//   - halves in two texts: each message, each JSON string ([Redactor.JSON]) and each
//     group of lines of [Redactor.Writer] stands alone;
//   - look-alikes from other scripts, such as a Cyrillic а for a Latin a.
//
// Whoever can run programs beside a secret can always spell it in another way:
// redaction guards against accidents and simple tricks, the sandbox keeps secrets out of reach.
//
// Redacting is idempotent and takes time linear in the text. There are no errors.
package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// minSecret is the length below which a configured value is no secret, in bytes:
// cutting "admin" out of everything would hurt more than it helps.
const minSecret = 6

const (
	markerStart = "[redacted:"
	kindSecret  = "secret"
)

// Redactor knows the secrets. A nil Redactor knows the shapes only. It is
// immutable and may be used by many goroutines.
type Redactor struct {
	pairs [1 << 10]uint64 // set of the first two bytes of everything that is looked for
	slot  [1 << 16]uint16 // where in found the candidates of such a pair are
	found []candidates    // the first is that of the marker
	bare  *Redactor       // finds values by their letters and digits alone; nil: none are long enough

	fragments func() *fragments // made at the first text: most commands redact nothing
}

// candidates begin with the same two bytes.
type candidates struct {
	needles []string     // configured values in all forms, longest first
	shapes  []tokenShape // in the order of the table
}

// shapesOnly serves nil Redactors.
var shapesOnly = New(nil)

// New makes a Redactor for the given values.
func New(secrets []string) *Redactor {
	secrets = slices.Clone(secrets)
	r := &Redactor{fragments: sync.OnceValue(func() *fragments { return newFragments(secrets) })}
	r.at(markerStart)
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		random := strings.ContainsAny(s, "0123456789") // words may come together by chance
		for _, form := range forms(s) {
			c := r.at(form)
			c.needles = append(c.needles, form)
			if random {
				r.addSplit(form)
			}
		}
	}
	r.order()
	if r.bare != nil {
		r.bare.order()
	}
	for _, s := range shapes {
		c := r.at(s.prefix)
		c.shapes = append(c.shapes, s)
	}
	return r
}

// order puts longer values first.
func (r *Redactor) order() {
	for i := range r.found {
		list := r.found[i].needles
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		r.found[i].needles = slices.Compact(list)
	}
}

// at is the place for what begins like s; it is valid until the next call.
func (r *Redactor) at(s string) *candidates {
	key := uint16(s[0])<<8 | uint16(s[1])
	if r.pairs[key>>6]&(1<<(key&63)) == 0 {
		r.pairs[key>>6] |= 1 << (key & 63)
		r.slot[key] = uint16(len(r.found))
		r.found = append(r.found, candidates{})
	}
	return &r.found[r.slot[key]]
}

// String returns s without secrets, and whether there were any.
func (r *Redactor) String(s string) (string, bool) {
	if r == nil {
		r = shapesOnly
	}
	out, changed := r.pass(s)
	// What stands beside a secret that is gone may now look like a token itself.
	for again := changed; again; {
		out, again = r.pass(out)
	}
	return out, changed
}

func (r *Redactor) pass(s string) (string, bool) {
	out, whole := r.once(s)
	out, split := r.split(out)
	out, partly := r.fragments().replace(out)
	return out, whole || split || partly
}

// once is one pass from left to right.
func (r *Redactor) once(s string) (string, bool) {
	var out strings.Builder
	copied := 0 // s[:copied] is in out
	for i := 0; i+1 < len(s); i++ {
		key := uint16(s[i])<<8 | uint16(s[i+1])
		if r.pairs[key>>6]&(1<<(key&63)) == 0 {
			continue
		}
		if n := marker(s[i:]); n > 0 {
			i += n - 1
			continue
		}
		start, end, kind := find(s, i, copied, &r.found[r.slot[key]])
		if kind == "" {
			continue
		}
		out.WriteString(s[copied:start])
		out.WriteString(markerStart + kind + "]")
		copied, i = end, end-1
	}
	if copied == 0 {
		return s, false
	}
	out.WriteString(s[copied:])
	return out.String(), true
}

// find looks for a secret at s[i:]. The kind is "" if there is none.
func find(s string, i, copied int, c *candidates) (start, end int, kind string) {
	for _, needle := range c.needles {
		if strings.HasPrefix(s[i:], needle) {
			return i, i + len(needle), kindSecret
		}
	}
	for k := range c.shapes {
		shape := &c.shapes[k]
		if !strings.HasPrefix(s[i:], shape.prefix) || shape.bound && i > copied && !boundary(s, i) {
			continue
		}
		rest := s[i+len(shape.prefix):]
		if n := shape.match(rest); n > 0 {
			start = i
			if shape.keepPrefix {
				start += len(shape.prefix)
			}
			return start, i + len(shape.prefix) + n, shape.kind
		}
	}
	return 0, 0, ""
}

// marker is the length of a marker of ours at the start of s, 0 if there is none.
func marker(s string) int {
	if !strings.HasPrefix(s, markerStart) {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), 40)], ']')
	if end < 0 || !kinds[s[len(markerStart):end]] {
		return 0
	}
	return end + 1
}

// boundary tells whether a word can begin at s[i], also after an escape such as
// \n, \u003c or %20 whose last character is a letter or digit.
func boundary(s string, i int) bool {
	if !wordByte(s[i-1]) {
		return true
	}
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrtbfv", s[i-1]) >= 0 ||
		i >= 3 && s[i-3] == '%' && hexByte(s[i-2]) && hexByte(s[i-1]) ||
		i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && hexByte(s[i-4]) && hexByte(s[i-3]) && hexByte(s[i-2]) && hexByte(s[i-1])
}
