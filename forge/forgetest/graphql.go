package forgetest

import (
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// selection is a field of a GraphQL query, or a fragment on a type.
type selection struct {
	alias, name string
	on          string // the type of a fragment; name is empty then
	args        map[string]any
	sub         []selection
}

// variable is the name of a variable in an argument.
type variable string

// parser reads the part of GraphQL that clients of GitHub use: one operation
// with variables, arguments, aliases and inline fragments. It panics with a
// syntaxError, which parseGraphQL returns.
type parser struct {
	scanner.Scanner
	token rune
}

type syntaxError string

func (e syntaxError) Error() string { return string(e) }

// parseGraphQL returns whether the operation is a mutation, and its fields.
func parseGraphQL(text string) (mutation bool, fields []selection, err error) {
	defer func() {
		if e, isSyntax := recover().(syntaxError); isSyntax {
			err = e
		}
	}()
	p := &parser{}
	p.Init(strings.NewReader(text))
	p.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings
	p.Error = func(_ *scanner.Scanner, message string) { panic(syntaxError(message)) }
	p.next()
	if p.token == scanner.Ident {
		mutation = p.take() == "mutation"
		if p.token == scanner.Ident {
			p.take() // the operation's name
		}
		if p.token == '(' { // what the variables' values say is enough
			for p.token != ')' && p.token != scanner.EOF {
				p.next()
			}
			p.expect(')')
		}
	}
	fields = p.selections()
	p.expect(scanner.EOF)
	return mutation, fields, nil
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
	if p.token == '.' {
		p.expect('.')
		p.expect('.')
		p.expect('.')
		if p.name() != "on" {
			panic(syntaxError("Parse error: named fragments are not known here"))
		}
		return selection{on: p.name(), sub: p.selections()}
	}
	s.name = p.name()
	s.alias = s.name
	if p.token == ':' {
		p.next()
		s.name = p.name()
	}
	if p.token == '(' {
		p.next()
		s.args = p.pairs(')')
	}
	if p.token == '{' {
		s.sub = p.selections()
	}
	return s
}

// pairs reads "name: value" up to the closing token.
func (p *parser) pairs(end rune) map[string]any {
	all := map[string]any{}
	for p.token != end {
		name := p.name()
		p.expect(':')
		all[name] = p.value()
	}
	p.expect(end)
	return all
}

func (p *parser) value() any {
	switch p.token {
	case '$':
		p.next()
		return variable(p.name())
	case '{':
		p.next()
		return p.pairs('}')
	case '[':
		p.next()
		list := []any{}
		for p.token != ']' {
			list = append(list, p.value())
		}
		p.expect(']')
		return list
	case scanner.String:
		text, err := strconv.Unquote(p.take())
		if err != nil {
			panic(syntaxError("Parse error: bad string"))
		}
		return text
	case scanner.Int, scanner.Float:
		number, _ := strconv.ParseFloat(p.take(), 64) // the scanner saw digits
		return number
	}
	switch word := p.name(); word {
	case "true", "false":
		return word == "true"
	case "null":
		return nil
	default:
		return word // a value of an enumeration
	}
}
