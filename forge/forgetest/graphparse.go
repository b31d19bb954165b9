package forgetest

import (
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// selection is a field of a GraphQL query.
type selection struct {
	alias, name string
	args        map[string]any
	sub         []selection
}

// variable is the name of a variable in an argument.
type variable string

// parser reads one query with variables, arguments and aliases; there are no
// fragments, mutations, lists or input objects. It panics with a syntaxError,
// which parseGraphQL returns.
type parser struct {
	scanner.Scanner
	token rune
}

type syntaxError string

func (e syntaxError) Error() string { return string(e) }

func parseGraphQL(text string) (fields []selection, err error) {
	defer func() {
		if e, isSyntax := recover().(syntaxError); isSyntax {
			err = e
		}
	}()
	p := &parser{}
	p.Init(strings.NewReader(text))
	p.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanStrings
	p.Error = func(_ *scanner.Scanner, message string) { panic(syntaxError(message)) }
	p.next()
	if p.token == scanner.Ident {
		p.header()
	}
	fields = p.selections()
	p.expect(scanner.EOF)
	return fields, nil
}

// header is the operation's kind, its name, and the types of its variables.
func (p *parser) header() {
	if kind := p.name(); kind != "query" {
		panic(syntaxError("Parse error: " + kind + " is not known here"))
	}
	if p.token == scanner.Ident {
		p.next()
	}
	if p.token == '(' {
		for p.token != ')' && p.token != scanner.EOF {
			p.next()
		}
		p.expect(')')
	}
}

func (p *parser) next() {
	p.token = p.Scan()
	for p.token == ',' { // commas are spaces
		p.token = p.Scan()
	}
}

func (p *parser) take() string {
	text := p.TokenText()
	p.next()
	return text
}

func (p *parser) expect(token rune) {
	if p.token != token {
		panic(syntaxError(fmt.Sprintf("Parse error on %q", p.TokenText())))
	}
	p.next()
}

func (p *parser) name() string {
	if p.token != scanner.Ident {
		panic(syntaxError(fmt.Sprintf("Parse error on %q: a name was expected", p.TokenText())))
	}
	return p.take()
}

func (p *parser) selections() (all []selection) {
	p.expect('{')
	for p.token != '}' {
		all = append(all, p.selection())
	}
	p.expect('}')
	return all
}

func (p *parser) selection() (s selection) {
	s.name = p.name()
	s.alias = s.name
	if p.token == ':' {
		p.next()
		s.name = p.name()
	}
	if p.token == '(' {
		p.next()
		s.args = p.arguments()
	}
	if p.token == '{' {
		s.sub = p.selections()
	}
	return s
}

func (p *parser) arguments() map[string]any {
	all := map[string]any{}
	for p.token != ')' {
		name := p.name()
		p.expect(':')
		all[name] = p.value()
	}
	p.expect(')')
	return all
}

func (p *parser) value() any {
	switch p.token {
	case '$':
		p.next()
		return variable(p.name())
	case scanner.String:
		text, err := strconv.Unquote(p.take())
		if err != nil {
			panic(syntaxError("Parse error: bad string"))
		}
		return text
	case scanner.Int:
		number, _ := strconv.ParseFloat(p.take(), 64) // the scanner saw digits
		return number
	}
	panic(syntaxError(fmt.Sprintf("Parse error on %q: a value was expected", p.TokenText())))
}
