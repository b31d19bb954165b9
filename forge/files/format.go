package files

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"agent/internal/lazyregexp"
)

// document is one file of the directory, as its lines and what they say.
type document struct {
	lines    []string // without their line breaks
	head     head
	keys     map[string]span // of the front matter
	end      int             // the line that closes the front matter
	sections []section       // the comments
}

// head is what the front matter says. Keys that it does not know stay as they are.
type head struct {
	Title   string   `yaml:"title"`
	Labels  names    `yaml:"labels"`
	Author  string   `yaml:"author"`
	State   string   `yaml:"state"`
	Number  int      `yaml:"number"`
	Changes []change `yaml:"changes"`
}

// change is a branch that the agent pushed.
type change struct {
	Branch string `yaml:"branch"`
	Base   string `yaml:"base"`
}

// names is a list that may also be written as one text.
type names []string

// UnmarshalYAML reads a list or a text.
func (n *names) UnmarshalYAML(v *yaml.Node) error {
	var all []string
	if v.Kind == yaml.ScalarNode {
		var one string
		if err := v.Decode(&one); err != nil || one == "" {
			return err
		}
		all = []string{one}
	} else if err := v.Decode(&all); err != nil {
		return err
	}
	*n = all
	return nil
}

// span are lines of a key and its value, the second one excluded.
type span struct{ from, to int }

// section is a comment: the line that begins it, and its text.
type section struct {
	line            int // of the document
	author          string
	id              int // 0: not given yet
	created, edited time.Time
	body            string
}

var (
	// begins is the line that begins a comment. What follows the name the adapter writes.
	begins = lazyregexp.New(`^=== ?@(\S+)(?: #([1-9][0-9]{0,14}))?(?: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ))?(?: edited (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ))?\s*$`)
	// like is a line of a text that would begin a comment, or would after a backslash is taken off.
	like = lazyregexp.New(`^\\*=== ?@`)
)

// errNoTask is a file without front matter: a note of the people, which is left alone.
var errNoTask = errors.New("no front matter")

// parse reads a whole file. An error is one line for people.
func parse(data []byte) (*document, error) {
	text := strings.TrimPrefix(string(data), "\ufeff")
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	d := &document{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), keys: map[string]span{}}
	if strings.TrimRight(d.lines[0], " \r") != "---" {
		return nil, errNoTask
	}
	d.end = 1 + slices.IndexFunc(d.lines[1:], func(l string) bool { return strings.TrimRight(l, " \r") == "---" })
	if d.end == 0 {
		return nil, errors.New("the front matter has no closing line ---")
	}
	if err := d.readHead(); err != nil {
		return nil, err
	}
	return d, d.readSections()
}

func (d *document) readHead() error {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(d.lines[1:d.end], "\n")), &node); err != nil {
		return fmt.Errorf("the front matter cannot be read: %s", oneLine(err.Error()))
	}
	if len(node.Content) == 0 {
		return nil
	}
	root := node.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return errors.New("the front matter must consist of lines like `title: …`")
	}
	for i := 0; i < len(root.Content); i += 2 {
		to := d.end
		if i+2 < len(root.Content) {
			to = root.Content[i+2].Line // line 1 of the YAML is line 1 of lines
		}
		from := root.Content[i].Line
		for to > from+1 && unbound(d.lines[to-1]) {
			to--
		}
		d.keys[root.Content[i].Value] = span{from, to}
	}
	if err := root.Decode(&d.head); err != nil {
		return fmt.Errorf("the front matter cannot be read: %s", oneLine(err.Error()))
	}
	switch {
	case d.head.State != "" && d.head.State != "open" && d.head.State != "closed":
		return errors.New("state must be open or closed")
	case d.head.Number < 0, d.head.Number == 0 && d.keys["number"] != span{}:
		return errors.New("number must be 1 or more; without the line one is given")
	}
	return nil
}

// unbound is a line that belongs to what follows it, or to nothing.
func unbound(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

func (d *document) readSections() error {
	ids := map[int]bool{}
	for i := d.end + 1; i < len(d.lines); i++ {
		if !like.MatchString(d.lines[i]) || strings.HasPrefix(d.lines[i], `\`) {
			continue
		}
		m := begins.FindStringSubmatch(d.lines[i])
		if m == nil {
			return fmt.Errorf("line %d: a comment begins with a line like `=== @alice` and nothing else on it; in a text write a backslash before it", i+1)
		}
		s := section{line: i, author: m[1]}
		s.id, _ = strconv.Atoi(m[2]) // it has digits only, or is empty
		var err1, err2 error
		s.created, err1 = at(m[3])
		s.edited, err2 = at(m[4])
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("line %d: the time cannot be read", i+1)
		}
		if s.id != 0 && ids[s.id] {
			return fmt.Errorf("line %d: there are two comments #%d: remove the number of the copy", i+1, s.id)
		}
		ids[s.id] = true
		d.sections = append(d.sections, s)
	}
	for i := range d.sections {
		d.sections[i].body = d.text(d.sections[i].line+1, d.after(i))
	}
	return nil
}

func at(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text)
}

// after is the line after the i-th comment.
func (d *document) after(i int) int {
	if i+1 < len(d.sections) {
		return d.sections[i+1].line
	}
	return len(d.lines)
}

// body is the text of the task itself.
func (d *document) body() string {
	if len(d.sections) > 0 {
		return d.text(d.end+1, d.sections[0].line)
	}
	return d.text(d.end+1, len(d.lines))
}

// text are lines without the blank ones around them, as their author wrote them.
func (d *document) text(from, to int) string {
	blank := func(i int) bool { return strings.TrimSpace(d.lines[i]) == "" }
	for from < to && blank(from) {
		from++
	}
	for from < to && blank(to-1) {
		to--
	}
	plain := make([]string, 0, to-from)
	for _, line := range d.lines[from:to] {
		line = strings.TrimSuffix(line, "\r")
		if like.MatchString(line) {
			line = strings.TrimPrefix(line, `\`)
		}
		plain = append(plain, line)
	}
	return strings.Join(plain, "\n")
}

// escaped are the lines of a text: none of them begins a comment.
func escaped(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if like.MatchString(line) {
			lines[i] = `\` + line
		}
	}
	return lines
}

// headLine begins a comment.
func (s section) headLine() string {
	line := "=== @" + s.author
	if s.id != 0 {
		line += " #" + strconv.Itoa(s.id)
	}
	if !s.created.IsZero() {
		line += " " + s.created.UTC().Format(time.RFC3339)
	}
	if !s.edited.IsZero() {
		line += " edited " + s.edited.UTC().Format(time.RFC3339)
	}
	return line
}

// put replaces lines of the document and reads it again.
func (d *document) put(from, to int, lines ...string) error {
	d.lines = slices.Replace(d.lines, from, to, lines...)
	again, err := parse(d.bytes())
	if err == nil {
		*d = *again
	}
	return err
}

// set replaces the lines of a key, or adds them. Without lines the key is removed.
func (d *document) set(key string, lines ...string) error {
	where, there := d.keys[key]
	if !there {
		where = span{d.end, d.end}
	}
	return d.put(where.from, where.to, lines...)
}

func (d *document) setNumber(n int) error { return d.set("number", "number: "+strconv.Itoa(n)) }

func (d *document) setLabels(labels []string) error {
	list, err := flow(labels)
	if err != nil {
		return err
	}
	return d.set("labels", "labels: "+list)
}

func (d *document) setChanges(all []change) error {
	if len(all) == 0 {
		return d.set("changes")
	}
	text, err := yaml.Marshal(map[string][]change{"changes": all})
	if err != nil {
		return err
	}
	return d.set("changes", strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
}

// flow writes a list on one line.
func flow(list []string) (string, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range list {
		item := &yaml.Node{}
		item.SetString(text)
		node.Content = append(node.Content, item)
	}
	text, err := yaml.Marshal(node)
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n   ", ""), err // a long list is broken into lines
}

// append adds a comment at the end.
func (d *document) append(s section) error {
	for n := len(d.lines); n > 0 && strings.TrimSpace(d.lines[n-1]) == ""; n-- {
		d.lines = d.lines[:n-1]
	}
	lines := append([]string{"", s.headLine(), ""}, escaped(s.body)...)
	return d.put(len(d.lines), len(d.lines), lines...)
}

// bytes is the whole file.
func (d *document) bytes() []byte { return []byte(strings.Join(d.lines, "\n") + "\n") }

// find gives the index of a comment, -1 for none.
func (d *document) find(id int) int {
	return slices.IndexFunc(d.sections, func(s section) bool { return s.id == id })
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
