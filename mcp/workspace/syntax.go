package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// syntaxTime bounds a check by another program.
const syntaxTime = 5 * time.Second

// parsers check a text by the end of its file's name.
var parsers = map[string]func(text []byte) error{
	".go": parseGo, ".json": parseJSON, ".yaml": parseYAML, ".yml": parseYAML, ".xml": parseXML, ".svg": parseXML,
}

// checkers are programs that check a file and run none of it. They get its name.
var checkers = map[string][]string{
	".py":   {"python3", "-I", "-S", "-c", "import ast, sys\ntry: ast.parse(open(sys.argv[1], 'rb').read())\nexcept SyntaxError as e: sys.exit('line %s: %s' % (e.lineno, e.msg))"},
	".sh":   {"sh", "-n"},
	".bash": {"bash", "-n"},
	".js":   {"node", "--check"},
	".mjs":  {"node", "--check"},
	".cjs":  {"node", "--check"},
	".rb":   {"ruby", "-c"},
	".php":  {"php", "-l"},
}

// syntaxHint says what a parser says of a text that it read before the change, or
// that is new. The edit stands whatever that is: parsers know no templates and dialects.
func (w *workspace) syntaxHint(ctx context.Context, name, before, after string) string {
	ext := strings.ToLower(path.Ext(name))
	if parse := parsers[ext]; parse != nil {
		err := parse([]byte(after))
		if err == nil || before != "" && parse([]byte(before)) != nil {
			return ""
		}
		return hint(name, err.Error())
	}
	argv := checkers[ext]
	if argv == nil {
		return ""
	}
	return w.checkSyntax(ctx, argv, name)
}

func hint(name, problem string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(problem), "\n")
	return fmt.Sprintf("\nHint: %s does not parse now: %s", name, shorten([]byte(first)))
}

// checkSyntax asks a program of this machine, unless another one runs.
func (w *workspace) checkSyntax(ctx context.Context, argv []string, name string) string {
	if _, err := exec.LookPath(argv[0]); err != nil || len(w.running) > 0 {
		return ""
	}
	file, err := w.relative(name)
	if err != nil {
		return ""
	}
	limited, cancel := context.WithTimeout(ctx, syntaxTime)
	defer cancel()
	r, err := w.run(limited, program{argv: append(argv[:len(argv):len(argv)], filepath.Join(w.dir, file))})
	if err != nil || r.killed || r.code == 0 || r.code > 2 && r.code != 255 {
		return ""
	}
	return hint(name, strings.ReplaceAll(lastError(r.output.String()), w.dir+string(os.PathSeparator), ""))
}

// lastError is the line of a program's output that tells most: a stack trace ends with it.
func lastError(output string) string {
	said := strings.TrimSpace(output)
	for line := range strings.Lines(said) {
		if strings.Contains(line, "Error: ") {
			first, _, _ := strings.Cut(said, "\n")
			return strings.TrimSpace(first) + ": " + strings.TrimSpace(line)
		}
	}
	return said
}

func parseGo(text []byte) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	var all scanner.ErrorList
	if errors.As(err, &all) && len(all) > 0 {
		return fmt.Errorf("line %d: %s", all[0].Pos.Line, all[0].Msg)
	}
	return err
}

func parseJSON(text []byte) error {
	var value any
	err := json.Unmarshal(text, &value)
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) {
		before := text[:min(int(wrong.Offset), len(text))]
		return fmt.Errorf("line %d: %s", 1+bytes.Count(before, []byte("\n")), wrong)
	}
	return err
}

func parseYAML(text []byte) error {
	if bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%")) {
		return nil // a template
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		if err := d.Decode(&node); err == io.EOF {
			return nil
		} else if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
}

func parseXML(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "XML syntax error on "))
		}
	}
}
