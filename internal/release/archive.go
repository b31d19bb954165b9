package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pack writes agent-VERSION-SYSTEM-ARCH.tar.gz: one directory of that name.
func (b *build) pack(target, binary string) error {
	name := "agent-" + b.version + "-" + strings.ReplaceAll(target, "/", "-")
	f, err := os.Create(filepath.Join(b.out, name+".tar.gz"))
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	return errors.Join(b.fill(t, name, binary), t.Close(), z.Close(), f.Close())
}

func (b *build) fill(t *tar.Writer, name, binary string) error {
	if err := b.add(t, name+"/agent", binary, 0o755); err != nil {
		return err
	}
	for _, file := range []string{"LICENSE", "README.md", "README.ja.md", "CHANGELOG.md"} {
		if err := b.add(t, name+"/"+file, filepath.Join(b.dir, file), 0o644); err != nil {
			return err
		}
	}
	if err := b.add(t, name+"/"+licencesFile, filepath.Join(b.work, licencesFile), 0o644); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(b.work, "man", "man1", "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages { // Glob sorts them
		if err := b.add(t, name+"/man/man1/"+filepath.Base(page), page, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// add adds a file that belongs to nobody in particular and is as old as the commit.
func (b *build) add(t *tar.Writer, name, file string, mode int64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: mode, ModTime: b.time, Format: tar.FormatUSTAR}
	if err := t.WriteHeader(&head); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}

// writeSums writes SHA256SUMS, for sha256sum --check.
func (b *build) writeSums() error {
	files, err := os.ReadDir(b.out)
	if err != nil {
		return err
	}
	var lines []string
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(b.out, f.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), f.Name()))
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(b.out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
