package redact

import "strings"

// Holds reports whether a configured value is in s, in any of the forms that String
// finds. Tokens of well-known shapes do not count.
func (r *Redactor) Holds(s string) bool {
	if r == nil {
		return false
	}
	for i := 0; i+1 < len(s); i++ {
		key := uint16(s[i])<<8 | uint16(s[i+1])
		if r.pairs[key>>6]&(1<<(key&63)) == 0 {
			continue
		}
		for _, needle := range r.found[r.slot[key]].needles {
			if strings.HasPrefix(s[i:], needle) {
				return true
			}
		}
	}
	if _, split := r.split(s); split {
		return true
	}
	_, partly := r.fragments().replace(s)
	return partly
}

// Exact is s as it is unless it holds a configured value; then it is without secrets. It is
// for texts that must stay what they are, as patches.
func (r *Redactor) Exact(s string) string {
	if r.Holds(s) {
		s, _ = r.String(s)
	}
	return s
}
