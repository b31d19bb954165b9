package page

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"agent/contexts"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/internal/report"
	"agent/internal/trees"
)

// Of makes the page of a context. secrets are redacted.
func Of(store *contexts.Store, uuid string, lang i18n.Lang, secrets []string) (*Doc, error) {
	src, err := SourceOf(store, uuid, lang, secrets)
	if err != nil {
		return nil, err
	}
	return Build(src)
}

// SourceOf is what the page of a context is made from.
func SourceOf(store *contexts.Store, uuid string, lang i18n.Lang, secrets []string) (Source, error) {
	info, err := store.Info(uuid)
	if err != nil {
		return Source{}, err
	}
	info.State = report.StateOf(store, info)
	r := redact.New(secrets)
	clean := func(text string) string { plain, _ := r.String(text); return plain }
	files, _ := trees.Objects(store, uuid, clean) // nil if they cannot be opened: diffs are then not shown
	return Source{Store: store, Info: info, Lang: lang, Clean: clean, Files: files}, nil
}

// WriteFile writes the page to a file, whole or not at all; "-" is out.
func (d *Doc) WriteFile(name string, out io.Writer) (err error) {
	if name == "-" {
		return d.Write(out)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".agent-*"+fsx.TempSuffix)
	if err != nil {
		return notWritten(name, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(d.Write(f), f.Sync(), f.Close()); err != nil {
		return notWritten(name, err)
	}
	return notWritten(name, os.Rename(f.Name(), name))
}

// notWritten names the file that was asked for in place of the temporary one.
func notWritten(name string, err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path) && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: its directory %s does not exist: %w", name, filepath.Dir(name), path.Err)
	case errors.As(err, &path):
		return &os.PathError{Op: "write", Path: name, Err: path.Err}
	case errors.As(err, &link):
		return &os.PathError{Op: "write", Path: name, Err: link.Err}
	}
	return err
}
