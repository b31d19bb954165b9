package mcp

// maxID bounds what is kept of an id or a key.
const maxID = 64

// idScanner finds the value of "id" at the top level of a JSON object that is
// too long to be held, as its bytes pass by.
type idScanner struct {
	depth   int
	quoted  bool
	escaped bool
	key     []byte // of the member whose value passes by; at depth 1
	inValue bool
	text    []byte // of the key or value passing by
	id      []byte // as written, nil if there was none
}

func (s *idScanner) write(p []byte) {
	for _, c := range p {
		s.next(c)
	}
}

func (s *idScanner) next(c byte) {
	switch {
	case s.quoted:
		s.string(c)
	case c == '"':
		s.quoted = true
		s.keep(c)
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		if s.depth == 1 {
			s.member()
		}
		s.depth--
	case s.depth != 1 || c == ' ' || c == '\t' || c == '\r' || c == '\n':
	case c == ':':
		s.key, s.text, s.inValue = s.text, nil, true
	case c == ',':
		s.member()
	default:
		s.keep(c)
	}
}

func (s *idScanner) string(c byte) {
	s.keep(c)
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.quoted = false
	}
}

func (s *idScanner) keep(c byte) {
	if s.depth == 1 && len(s.text) < maxID {
		s.text = append(s.text, c)
	}
}

// member ends a member of the outer object.
func (s *idScanner) member() {
	if s.inValue && string(s.key) == `"id"` {
		s.id = s.text
	}
	s.key, s.text, s.inValue = nil, nil, false
}
