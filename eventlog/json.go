package eventlog

import "unicode/utf8"

// MaxDepth is how deep arrays and objects in data may be nested; data itself is 1.
const MaxDepth = 64

const (
	errJSON      = lineError("data is not valid JSON")
	errDepth     = lineError("data is nested too deep")
	errUTF8      = lineError("data is not valid UTF-8")
	errSurrogate = lineError("data has a lone surrogate")
)

// CheckData tells whether data is exactly one valid JSON object: UTF-8, no lone
// surrogates, not deeper than [MaxDepth], nothing before or after it, and no
// line breaks. It does not look for duplicate keys: the checksum protects what
// the writer wrote, and our writer makes none. It does not allocate.
func CheckData(data []byte) error {
	if len(data) < 2 || data[0] != '{' {
		return errObject
	}
	c := checker{b: data}
	if err := c.value(); err != nil {
		return err
	}
	if c.i != len(data) {
		return errJSON
	}
	return nil
}

// checker walks over JSON without recursion: open holds what is open.
type checker struct {
	b     []byte
	i     int
	depth int
	open  [MaxDepth]byte // '{' or '['
}

// value checks the value at i with everything in it.
func (c *checker) value() error {
	for {
		opened, err := c.begin()
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		done, err := c.end()
		if done || err != nil {
			return err
		}
	}
}

// begin consumes a scalar, an empty array or object, or the opening of a
// filled one up to its first value; opened says that a value must follow.
func (c *checker) begin() (opened bool, err error) {
	switch b := c.space(); b {
	case '{', '[':
		if c.depth == MaxDepth {
			return false, errDepth
		}
		c.open[c.depth] = b
		c.depth++
		c.i++
		if c.space() == b+2 { // '}' and ']' are two after their partners
			c.i++
			c.depth--
			return false, nil
		}
		if b == '{' {
			return true, c.key()
		}
		return true, nil
	case '"':
		return false, c.str()
	case 't':
		return false, c.word("true")
	case 'f':
		return false, c.word("false")
	case 'n':
		return false, c.word("null")
	}
	return false, c.number()
}

// end consumes what stands between a value and the next one; done says that
// the outermost value has ended.
func (c *checker) end() (done bool, err error) {
	for c.depth > 0 {
		open := c.open[c.depth-1]
		switch c.space() {
		case ',':
			c.i++
			if open == '{' {
				return false, c.key()
			}
			return false, nil
		case open + 2:
			c.i++
			c.depth--
		default:
			return false, errJSON
		}
	}
	return true, nil
}

// key consumes a key and its colon.
func (c *checker) key() error {
	if c.space() != '"' {
		return errJSON
	}
	if err := c.str(); err != nil {
		return err
	}
	if c.space() != ':' {
		return errJSON
	}
	c.i++
	return nil
}

// space skips blanks and returns the next byte, 0 at the end. Line breaks,
// which JSON allows, are not blanks here: a record is one line.
func (c *checker) space() byte {
	for c.i < len(c.b) {
		if b := c.b[c.i]; b != ' ' && b != '\t' {
			return b
		}
		c.i++
	}
	return 0
}

func (c *checker) word(w string) error {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		return errJSON
	}
	c.i += len(w)
	return nil
}

func (c *checker) number() error {
	if c.at('-') {
		c.i++
	}
	if c.at('0') {
		c.i++
	} else if !c.digits() {
		return errJSON
	}
	if c.at('.') {
		c.i++
		if !c.digits() {
			return errJSON
		}
	}
	if c.at('e') || c.at('E') {
		c.i++
		if c.at('+') || c.at('-') {
			c.i++
		}
		if !c.digits() {
			return errJSON
		}
	}
	return nil
}

func (c *checker) at(b byte) bool { return c.i < len(c.b) && c.b[c.i] == b }

func (c *checker) digits() bool {
	from := c.i
	for c.i < len(c.b) && isDigit(c.b[c.i]) {
		c.i++
	}
	return c.i > from
}

// str consumes a string.
func (c *checker) str() error {
	c.i++
	for {
		for c.i < len(c.b) && plainByte[c.b[c.i]] { // nearly all of a log
			c.i++
		}
		if c.i >= len(c.b) {
			return errJSON
		}
		switch b := c.b[c.i]; {
		case b == '"':
			c.i++
			return nil
		case b == '\\':
			if err := c.escape(); err != nil {
				return err
			}
		case b < ' ':
			return errJSON
		default:
			r, n := utf8.DecodeRune(c.b[c.i:])
			if r == utf8.RuneError && n == 1 {
				return errUTF8
			}
			c.i += n
		}
	}
}

// plainByte are the bytes of a string that mean themselves and are one character.
var plainByte = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

func (c *checker) escape() error {
	if len(c.b)-c.i < 2 {
		return errJSON
	}
	switch c.b[c.i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.i += 2
		return nil
	case 'u':
	default:
		return errJSON
	}
	unit, ok := c.unit()
	switch {
	case !ok:
		return errJSON
	case unit&0xfc00 == 0xdc00:
		return errSurrogate
	case unit&0xfc00 != 0xd800:
		return nil
	}
	if low, ok := c.unit(); !ok || low&0xfc00 != 0xdc00 {
		return errSurrogate
	}
	return nil
}

// unit consumes one \uXXXX.
func (c *checker) unit() (n uint32, ok bool) {
	if len(c.b)-c.i < 6 || c.b[c.i] != '\\' || c.b[c.i+1] != 'u' {
		return 0, false
	}
	for _, b := range c.b[c.i+2 : c.i+6] {
		switch lower := b | 0x20; {
		case b-'0' <= 9:
			n = n<<4 | uint32(b-'0')
		case lower-'a' < 6:
			n = n<<4 | uint32(lower-'a'+10)
		default:
			return 0, false
		}
	}
	c.i += 6
	return n, true
}
