package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agent/handlers/prompt"
)

// largestPrompt is how many bytes a system prompt may have.
const largestPrompt = 128 << 10

// PromptError means that a configured prompt cannot be read.
type PromptError struct{ Err error }

func (e *PromptError) Error() string { return e.Err.Error() }
func (e *PromptError) Unwrap() error { return e.Err }

// ReadPrompt reads the template of a system message, which has a bound.
func ReadPrompt(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > largestPrompt {
		return "", fmt.Errorf("%s must be a file of at most %d bytes", path, largestPrompt)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// ReadPrompts gives, as a JSON object by name, the prompts in dir that replace embedded ones.
func ReadPrompts(dir string) (string, error) {
	embedded, err := prompt.PlanningPrompts.ReadDir("templates/planning")
	if err != nil {
		return "", err
	}
	prompts := map[string]string{}
	for _, file := range embedded {
		text, err := ReadPrompt(filepath.Join(dir, file.Name()))
		switch {
		case err == nil:
			prompts[strings.TrimSuffix(file.Name(), ".txt")] = text
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	if len(prompts) == 0 {
		return "", fmt.Errorf("%s contains no prompt; files are named after the phases, for example planning.txt", dir)
	}
	data, err := json.Marshal(prompts)
	return string(data), err
}
