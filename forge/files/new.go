package files

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Task is what a person writes down for the agent.
type Task struct {
	Title, Body, Author string
	Labels              []string
	Number              int
}

// File is the task as a file of the directory. No line of the text begins a comment.
func (t Task) File() ([]byte, error) {
	front, err := yaml.Marshal(struct {
		Title  string   `yaml:"title"`
		Labels []string `yaml:"labels,flow"`
		Author string   `yaml:"author,omitempty"`
		Number int      `yaml:"number,omitempty"`
	}{t.Title, t.Labels, t.Author, t.Number})
	if err != nil {
		return nil, err
	}
	data := "---\n" + string(front) + "---\n\n" + strings.Join(escaped(t.Body), "\n") + "\n"
	_, err = parse([]byte(data))
	return []byte(data), err
}

// ReadTask takes the title and the text out of a file that somebody wrote as a task, or
// as a plain text: then its first line is the title.
func ReadTask(data []byte) Task {
	if d, err := parse(data); err == nil && d.head.Title != "" {
		return Task{Title: d.head.Title, Body: d.body(), Author: d.head.Author}
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	first, _, _ := strings.Cut(text, "\n")
	return Task{Title: strings.TrimSpace(strings.TrimLeft(first, "#")), Body: text}
}
