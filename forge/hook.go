package forge

import "net/http"

// Hook is how a kind of forge tells by HTTP that something has changed. A delivery only
// says where to look: what is true there is read from the forge.
type Hook struct {
	Headers []string // a delivery of this kind has one of them
	// Signed reports whether whoever sent a delivery knows the secret. How long that takes
	// does not depend on the secret.
	Signed func(header http.Header, body []byte, secret string) bool
	// Item is what a delivery is about; false if that is no item, or the body is none of this kind.
	Item func(body []byte) (HookItem, bool)
	// Setup is a shell line that makes the hook of a project. $HOOK_URL is its address, and
	// $WEBHOOK_SECRET the secret.
	Setup func(project string) string
}

// HookItem is an item that a delivery names.
type HookItem struct {
	Project string
	Kind    Kind
	Number  int
	Labels  []string // nil if it does not say
	Comment bool     // somebody commented on it
}

// Belongs reports whether a request looks like a delivery of this kind.
func (h *Hook) Belongs(header http.Header) bool {
	for _, name := range h.Headers {
		if header.Get(name) != "" {
			return true
		}
	}
	return false
}
