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
